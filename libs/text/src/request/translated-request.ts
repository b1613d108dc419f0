import { ChatRequest } from '@svc/api/chat';
import { type Issue, Problem, invalidRequest, validate, validateInSlices } from '@svc/contracts/problems';
import type { JsonText } from '@svc/runtime';
import { type JsonPart, unknownFieldsOf } from '@svc/paid/json';
import type { SearchTerms } from '../web/web-plan.js';
import { refuseEncryption } from './encryption.js';

/** The path in the client's request of what is at a path in its translation. */
export type Origin = (path: Issue['path']) => Issue['path'];

/** A request of another endpoint, as a chat completion request. */
export interface TranslatedRequest {
  readonly chat: ChatRequest;
  readonly json: JsonText;
  readonly origin: Origin;
  /** How to search, if the request wants a search. */
  readonly search?: SearchTerms | undefined;
}

/** A JSON text up to this length, not counting long strings, is validated at once. */
const AT_ONCE_CHARACTERS = 16_384;

/**
 * Checks a translation, which replaces the text of the request. Refuses: INVALID_REQUEST, naming the fields
 * of the client's request.
 */
export async function translated(
  json: JsonText,
  { value, text }: JsonPart,
  origin: Origin,
): Promise<TranslatedRequest> {
  try {
    const chat =
      text.length > AT_ONCE_CHARACTERS
        ? await validateInSlices(ChatRequest, value)
        : validate(ChatRequest, value);
    refuseEncryption(chat);
    json.replace(text);
    return { chat, json, origin };
  } catch (error) {
    throw atOrigin(error, origin);
  }
}

/** An error about a translation, with the names that its client has used. */
export function atOrigin(error: unknown, origin: Origin): unknown {
  if (!(error instanceof Problem)) return error;
  const { code, issues, param, message, retryAfterSeconds, body, cause } = error;
  if (issues && code === 'INVALID_REQUEST')
    return invalidRequest(issues.map((issue) => ({ ...issue, path: origin(issue.path) })));
  if (param === null) return error;
  const named = origin(param.split('.')).join('.');
  return new Problem(code, {
    message,
    param: named,
    cause,
    ...(issues && { issues }),
    ...(body && { body }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/**
 * The members of a request that its endpoint does not have, which are for the backend. Refuses those that
 * chat completions have, since they would act here unchecked, and other spellings of known ones.
 */
export function unknownMembersOf(
  shape: Readonly<Record<string, unknown>>,
): (members: ReadonlyMap<string, JsonPart>) => (readonly [string, JsonPart])[] {
  const ofBackend = unknownFieldsOf(shape);
  return (members) => {
    const values = [...members].map(([name, { value }]) => [name, value] as const);
    const names = Object.keys(ofBackend(Object.fromEntries(values)));
    const issues = names
      .filter((name) => Object.hasOwn(ChatRequest.shape, name))
      .map((name) => ({
        code: 'unrecognized_keys',
        path: [name],
        message: `This endpoint has no field ${name}; it is one of chat completions`,
      }));
    if (issues.length > 0) throw invalidRequest(issues);
    return names.flatMap((name) => {
      const part = members.get(name);
      return part ? [[name, part] as const] : [];
    });
  };
}

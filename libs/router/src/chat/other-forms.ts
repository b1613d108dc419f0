import { BackendError } from '@svc/backend-calls';
import { type Fields, isFields } from '@svc/contracts/inference';
import { type JsonReader, RESPONSE_JSON_LIMITS, boundedJson } from '@svc/runtime';
import { textIn } from './backend-json.js';

/*
 * What the dialects of providers have in common that write the request of a chat in a form of their own.
 */

/** The error of a request that the API of a provider has no place for. */
export function unsupported(message: string, param: string): BackendError {
  return new BackendError(400, JSON.stringify({ error: { message, param } }));
}

/** The request that a dialect writes in its own form. It has been checked and bounded where it came from. */
export function requestIn(body: readonly Uint8Array[]): Fields {
  const request = boundedJson(Buffer.concat(body).toString('utf8'), RESPONSE_JSON_LIMITS);
  return isFields(request) ? request : {};
}

/** The function of a tool. Throws BackendError for a tool of another type. */
export function functionIn({ type, function: called }: Fields): Fields {
  if (type !== 'function' || !isFields(called))
    throw unsupported('this model takes tools of the type function only', 'tools');
  return called;
}

/** These members of a request. */
export const membersOf = (request: Fields, names: ReadonlySet<string>): Fields =>
  Object.fromEntries(Object.entries(request).filter(([name]) => names.has(name)));

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)[^,]*;base64,/i;

/** A URL may be long, and the pattern takes the square of the length of a head without end. */
const HEAD_CHARACTERS = 1_000;

/** The type and the base64 of a data URL; undefined for any other URL. */
export function dataIn(url: string): { readonly type: string; readonly base64: string } | undefined {
  const [prefix, type = ''] = DATA_URL.exec(url.slice(0, HEAD_CHARACTERS)) ?? [];
  return prefix === undefined ? undefined : { type: type.toLowerCase(), base64: url.slice(prefix.length) };
}

/**
 * The arguments of a call as an object; any other text becomes a member of one, since a model wrote it. A
 * request has one reader for all of its calls, whose texts nothing else has bounded.
 */
export function callInput(text: unknown, reader: JsonReader): Fields {
  if (typeof text !== 'string' || text.trim() === '') return {};
  try {
    const value = reader.read(text);
    if (isFields(value)) return value;
  } catch {
    // It is kept as it is.
  }
  return { arguments: text };
}

/** How a model is asked to reason: it decides by itself, or within a number of tokens. */
export type ThinkingForm = 'adaptive' | 'budget';

/** The tokens of an effort, for models that need a number. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 16_384,
  high: 32_768,
  xhigh: 65_536,
  max: 131_072,
};

/** The reasoning that a chat asks for. */
export interface ReasoningWish {
  /** As in the request. */
  readonly effort: string | undefined;
  /** At most half of the output: the rest is for the response. Undefined if nothing is asked for. */
  readonly budgetTokens: number | undefined;
  readonly isOff: boolean;
}

export function reasoningWish(request: Fields, maxTokens: number): ReasoningWish {
  const { reasoning_effort: plain, reasoning } = request;
  const { effort, max_tokens: budget, enabled } = isFields(reasoning) ? reasoning : {};
  const name = textIn(effort ?? plain);
  const most = typeof budget === 'number' && budget > 0 ? budget : BUDGETS[name];
  return {
    effort: BUDGETS[name] === undefined ? undefined : name,
    budgetTokens: most === undefined ? undefined : Math.min(most, Math.floor(maxTokens / 2)),
    isOff: enabled === false || name === 'none',
  };
}

/** The output of a chat without a limit. */
const USUAL_MAX_TOKENS = 4_096;

/** The output tokens of a chat at most. */
export function outputLimit({ max_completion_tokens: limit, max_tokens: older }: Fields): number {
  const given = [limit, older].find((value): value is number => typeof value === 'number' && value > 0);
  return given ?? USUAL_MAX_TOKENS;
}

import { hash } from 'node:crypto';
import type { ChatRequest } from '@svc/api/chat';
import { haveChoice } from '@svc/contracts/catalog';
import type { LongStrings } from '@svc/runtime';

/** The header in which a client names its session, one of these. */
const SESSION_HEADERS = ['x-session-id', 'x-session-affinity'] as const;

/** The most characters of a session's name that count. */
const NAME_CHARACTERS = 256;

/** Of a message only the beginning counts, and its length. */
const READ_CHARACTERS = 1_024;

/** A system message of this length or more is most of what prompts have in common. */
const LONG_CHARACTERS = 512;

/** The session that the headers of a request name, if they do. */
export function sessionOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string | undefined {
  for (const name of SESSION_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value.slice(0, NAME_CHARACTERS);
  }
  return undefined;
}

interface AffinitySource {
  readonly accountId: string;
  /** The session that the headers name. */
  readonly session: string | undefined;
  readonly strings: LongStrings;
  readonly isEncrypted: boolean;
  readonly backends: Parameters<typeof haveChoice>[0];
}

/**
 * Requests with the same key prefer the same backend: the key or session of the client, or else a hash of the
 * account and how the conversation begins. Of that the first user message counts only if the system message
 * is short: all conversations with the same long one share most of their prompts. Undefined if there is no
 * choice, or nothing is known.
 */
export function affinityKey(
  { messages, prompt_cache_key: key, session_id: session }: ChatRequest,
  from: AffinitySource,
): string | undefined {
  const { backends } = from;
  if (!haveChoice(backends)) return undefined;
  const named = key || session || from.session;
  if (named !== undefined && named !== null) return named;
  if (from.isEncrypted) return undefined;
  const system = messages.find(({ role }) => role === 'system' || role === 'developer');
  const user = messages.find(({ role }) => role === 'user');
  const begin = system ? beginningOf(system, from.strings) : '';
  const text =
    begin.length >= LONG_CHARACTERS || !user ? begin : `${begin}\n${beginningOf(user, from.strings)}`;
  return hash('sha256', `${from.accountId}\n${text}`, 'base64url').slice(0, 22);
}

function beginningOf({ content }: ChatRequest['messages'][number], strings: LongStrings): string {
  const parts = Array.isArray(content) ? content : [];
  const part: object | undefined = parts.find((one) => one.type === 'text');
  const text = typeof content === 'string' ? content : part && 'text' in part ? part.text : '';
  return typeof text === 'string' ? strings.beginningOf(text, READ_CHARACTERS) : '';
}

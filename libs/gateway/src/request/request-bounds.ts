import { invalidRequest } from '@svc/contracts';
import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE, stringEnd } from '../json/json-text.js';

/** Deeper than any schema of a tool, and far from where a recursion over a value runs out of stack. */
const LEVELS_AT_MOST = 500;

/**
 * Messages, their parts and calls, tools and the like of one request. Each that is faulty becomes an issue of
 * several hundred bytes, so a body of nothing else would take gigabytes to refuse.
 */
const MEMBERS_AT_MOST = 20_000;

/** Refuses a chat completion that would cost more to check than any decent one: INVALID_REQUEST. */
export function refuseExcess(text: string, value: unknown): void {
  if (isDeeperThan(text, LEVELS_AT_MOST)) {
    const message = `Too deep: expected at most ${LEVELS_AT_MOST} levels`;
    throw invalidRequest([{ code: 'too_big', path: [], message }]);
  }
  const [field, members] = largestField(value);
  if (members > MEMBERS_AT_MOST) {
    const message = `Too big: expected at most ${MEMBERS_AT_MOST} members in all`;
    throw invalidRequest([{ code: 'too_big', path: [field], message }]);
  }
}

/** Whether a JSON text, known to parse, is nested deeper than so many levels. */
export function isDeeperThan(text: string, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}

/** Fields whose members are checked one by one. */
const CHECKED_FIELDS = ['messages', 'tools', 'stop', 'stop_token_ids', 'include', 'metadata', 'fallbacks'];

/** The field with the most members, those of a message's own lists counted, and how many they are. */
function largestField(value: unknown): [field: string, members: number] {
  let largest: [string, number] = ['', 0];
  if (!isObject(value)) return largest;
  for (const field of CHECKED_FIELDS) {
    let members = memberCount(value[field]);
    if (field === 'messages' && members <= MEMBERS_AT_MOST) members += innerCount(value[field]);
    if (members > largest[1]) largest = [field, members];
  }
  return largest;
}

/** The members of all lists that are fields of a list's members. */
function innerCount(list: unknown): number {
  let members = 0;
  for (const item of Array.isArray(list) ? list : []) {
    if (!isObject(item)) continue;
    for (const inner of Object.values(item)) if (Array.isArray(inner)) members += inner.length;
  }
  return members;
}

function memberCount(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

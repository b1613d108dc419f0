import { hash, randomBytes } from 'node:crypto';
import type { Incoming, Outgoing } from './incoming.js';
import { errorsOf } from './route.js';

/**
 * 32 hex digits of a UUIDv7 (RFC 9562): milliseconds first, so that ids sort by time and index well, then
 * random bits. Unique without coordination.
 */
export function newId(): string {
  if (randomAt + ID_RANDOM_DIGITS > randomDigits.length) {
    randomDigits = randomBytes(POOL_BYTES).toString('hex');
    randomAt = 0;
  }
  const random = randomDigits.slice(randomAt, (randomAt += ID_RANDOM_DIGITS));
  const timeMs = Date.now().toString(16).padStart(12, '0');
  // The version, and the variant as the two highest bits of its digit.
  const variant = VARIANTS.charAt(Number.parseInt(random.charAt(0), 16) % VARIANTS.length);
  return `${timeMs}7${random.slice(1, 4)}${variant}${random.slice(4)}`;
}

/** Random digits for the next ids: a call for each id would cost as much as fifty of them together. */
let randomDigits = '';
let randomAt = 0;

const POOL_BYTES = 1_000;
/** One chooses the variant, three come before it and fifteen after it. */
const ID_RANDOM_DIGITS = 19;
const VARIANTS = '89ab';

/** The digits that `newId` put at the end of a request id. */
const ID_DIGITS = 32;
const ENDS_WITH_ID = /[\da-f]{32}$/;

/**
 * A request id as a UUID, for servers that accept nothing else: the digits of `newId` in groups, so that
 * their logs can be searched for it. Any other id gets a UUID derived from its hash.
 */
export function uuidOf(id: string): string {
  const digits = (ENDS_WITH_ID.test(id) ? id : hash('sha256', id)).slice(-ID_DIGITS);
  const group = (from: number, to: number): string => digits.slice(from, to);
  return `${group(0, 8)}-${group(8, 12)}-${group(12, 16)}-${group(16, 20)}-${group(20, ID_DIGITS)}`;
}

/** Gives a request of a client its id, which its response shows. */
export function nameRequest(request: Incoming, reply: Outgoing, id: string): void {
  request.id = id;
  // Set on the reply, not the socket: they are then written once, with the head.
  reply.header('CF-RAY', id).header('x-request-id', id);
  const idHeader = errorsOf(request)?.idHeader;
  if (idHeader !== undefined) reply.header(idHeader, id);
}

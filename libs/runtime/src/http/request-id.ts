import { hash, randomUUIDv7 } from 'node:crypto';

/**
 * 32 hex digits of a UUIDv7 (RFC 9562): milliseconds first, so that ids sort by time and index well, then
 * random bits. Unique without coordination.
 */
export function newId(): string {
  return randomUUIDv7().replaceAll('-', '');
}

/** The digits that `newId` put at the end of a request id, grouped as in a UUID. */
const UUID_DIGITS = /([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})$/;

/**
 * A request id as a UUID, for servers that accept nothing else: the digits of `newId` in groups, so that
 * their logs can be searched for it. Any other id gets a UUID derived from its hash.
 */
export function uuidOf(id: string): string {
  const [, ...groups] = UUID_DIGITS.exec(id) ?? UUID_DIGITS.exec(hash('sha256', id)) ?? [];
  return groups.join('-');
}

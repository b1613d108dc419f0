import { randomUUIDv7 } from 'node:crypto';

/**
 * 32 hex digits of a UUIDv7 (RFC 9562): milliseconds first, so that ids sort by time and index well, then random bits.
 * Unique without any coordination.
 */
export function newId(): string {
  return randomUUIDv7().replaceAll('-', '');
}

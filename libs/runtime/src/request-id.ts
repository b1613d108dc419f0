import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4_096);
let used = pool.length;

/**
 * 32 hex digits in the layout of UUIDv7 (RFC 9562): milliseconds first, so that ids sort by time and index well,
 * then random bits. Unique without any coordination.
 */
export function newId(): string {
  if (used + 10 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.toString('hex', used, used + 10);
  used += 10;
  const variant = (8 + (Number.parseInt(random.charAt(3), 16) & 3)).toString(16);
  return `${Date.now().toString(16).padStart(12, '0')}7${random.slice(0, 3)}${variant}${random.slice(4, 19)}`;
}

import { createHmac, timingSafeEqual } from 'node:crypto';

/** 80 bits: nobody guesses them within two days, however often they try. */
const CODE_BYTES = 10;
const DAY_MS = 86_400_000;

/** The code that is sent to an address on a UTC day. Nothing is stored of it. */
export function mailCode(secret: Buffer, url: string, atMs: number): string {
  const hex = digest(secret, url, atMs).toString('hex');
  return (hex.match(/.{4}/g) ?? []).join('-');
}

/** Whether it is the code of this day or of the day before. */
export function isMailCode(secret: Buffer, url: string, code: string): boolean {
  const given = Buffer.from(code.toLowerCase().replaceAll(/[^0-9a-f]/g, ''), 'hex');
  const nowMs = Date.now();
  return [nowMs, nowMs - DAY_MS].some((atMs) => {
    const expected = digest(secret, url, atMs);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function digest(secret: Buffer, url: string, atMs: number): Buffer {
  const day = new Date(atMs).toISOString().slice(0, 10);
  return createHmac('sha256', secret).update(`${day} ${url}`).digest().subarray(0, CODE_BYTES);
}

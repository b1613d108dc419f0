import { type CipherGCM, createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { boundedJson } from '@svc/runtime';
import type { StoredResponse } from '../http/repeat.js';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The most bytes of a response that is stored. */
const ANSWER_BYTES = 1_048_576;

/**
 * What a request is known by, and the secret that its response is encrypted with. Both are derived from its
 * body, which is not stored: only the same request can read its response.
 */
export interface RequestDigest {
  readonly sha256: string;
  readonly secret: Buffer;
}

export function digestOf(parts: Iterable<string | Uint8Array>): RequestDigest {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  const whole = hash.digest();
  const derived = (purpose: string): Buffer => createHash('sha256').update(purpose).update(whole).digest();
  return { sha256: derived('name').toString('hex'), secret: derived('secret') };
}

/** Undefined if it is too large to be stored. */
export function seal({ status, headers, body }: StoredResponse, secret: Buffer): Buffer | undefined {
  const bytes = body.reduce((sum, piece) => sum + piece.length, 0);
  if (bytes > ANSWER_BYTES) return undefined;
  const head = Buffer.from(`${JSON.stringify({ status, headers })}\n`);
  const iv = randomBytes(IV_BYTES);
  const cipher: CipherGCM = createCipheriv(CIPHER, secret, iv);
  const sealed = [head, ...body].map((piece) => cipher.update(piece));
  sealed.push(cipher.final());
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]);
}

export function unseal(sealed: Buffer, secret: Buffer): StoredResponse {
  const decipher = createDecipheriv(CIPHER, secret, sealed.subarray(0, IV_BYTES));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const opened = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  const end = opened.indexOf('\n');
  const head = boundedJson(opened.toString('utf8', 0, end)) as Omit<StoredResponse, 'body'>;
  return { ...head, body: [opened.subarray(end + 1)] };
}

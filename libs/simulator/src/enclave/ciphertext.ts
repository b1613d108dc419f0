import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { isPrivate, pointFromScalar, pointMultiply } from 'tiny-secp256k1';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 65;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TEXT_AT = KEY_BYTES + NONCE_BYTES;

/** A pair on the curve secp256k1. */
export interface KeyPair {
  readonly secret: Uint8Array;
  /** Uncompressed: 65 bytes. */
  readonly publicKey: Uint8Array;
}

export function newKeyPair(): KeyPair {
  for (;;) {
    const secret = randomBytes(32);
    const publicKey = isPrivate(secret) ? pointFromScalar(secret, false) : null;
    if (publicKey) return { secret, publicKey };
  }
}

/**
 * Encrypts a text for the holder of a public key, in hex: a key of its own, a nonce, the text, the tag. An
 * empty text stays empty.
 */
export function seal(text: string, publicKey: Uint8Array): string {
  if (text === '') return '';
  const own = newKeyPair();
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, sharedKey(own.secret, publicKey), nonce);
  const parts = [own.publicKey, nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(parts).toString('hex');
}

/** Decrypts what `seal` returns. Throws for anything else. */
export function open(hex: string, secret: Uint8Array): string {
  if (hex === '') return '';
  if (!/^(?:[0-9a-f]{2})+$/i.test(hex)) throw new TypeError('the ciphertext is not hex');
  const bytes = Buffer.from(hex, 'hex');
  const tagAt = bytes.length - TAG_BYTES;
  const key = sharedKey(secret, bytes.subarray(0, KEY_BYTES));
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(KEY_BYTES, TEXT_AT));
  decipher.setAuthTag(bytes.subarray(tagAt));
  const text = Buffer.concat([decipher.update(bytes.subarray(TEXT_AT, tagAt)), decipher.final()]);
  return new TextDecoder('utf-8', { fatal: true }).decode(text);
}

/** Throws if the public key is not a point of the curve. */
function sharedKey(secret: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const point = pointMultiply(publicKey, secret, false);
  if (!point) throw new TypeError('the public key is not a point of the curve');
  return new Uint8Array(hkdfSync('sha256', point.subarray(1, 33), new Uint8Array(), 'ecdsa_encryption', 32));
}

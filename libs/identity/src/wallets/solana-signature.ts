import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';

const BYTES = { key: 32, signature: 64 };

/** Prefix that turns a raw Ed25519 key into DER for Node. Source: RFC 8410. */
const KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * The y coordinates of points of small order. With such a key anyone can sign any text without knowing a
 * secret. Source: RFC 7748 §7, and the points of order 1, 2, 4 and 8 of the curve. `isWeak` also finds
 * unreduced encodings of y.
 */
const SMALL_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

/** The bytes of a Solana address, if it is the public key of a key that can sign. */
export function solanaKey(address: string): Uint8Array | undefined {
  const key = address.length <= 44 ? fromBase58(address) : undefined;
  return key?.length === BYTES.key && !isWeak(key) ? key : undefined;
}

/** Whether the key of this address signed a text. The signature may be in base58 or base64. */
export function isSignedBySolana(key: Uint8Array, text: string, signature: string): boolean {
  if (signature.length > 96) return false;
  const candidates = [fromBase58(signature), Buffer.from(signature, 'base64')];
  const publicKey = createPublicKey({ key: Buffer.concat([KEY_PREFIX, key]), format: 'der', type: 'spki' });
  return candidates.some(
    (bytes) => bytes?.length === BYTES.signature && verify(null, Buffer.from(text), publicKey, bytes),
  );
}

function fromBase58(text: string): Uint8Array | undefined {
  try {
    return base58.decode(text);
  } catch {
    return undefined;
  }
}

function isWeak(key: Uint8Array): boolean {
  const y = Buffer.from(key);
  // The highest bit is the sign of x.
  y[31] = (y[31] ?? 0) & 0x7f;
  const isUnreduced =
    y[31] === 0x7f && y.subarray(1, 31).every((byte) => byte === 0xff) && (y[0] ?? 0) >= 0xed;
  return isUnreduced || SMALL_ORDER.has(y.toString('hex'));
}

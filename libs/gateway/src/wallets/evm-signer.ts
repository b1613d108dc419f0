import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';

const SIGNATURE = /^0x[0-9a-f]{130}$/i;

/**
 * The address, in lower case, whose key made this signature of a text, or `undefined` where there is none. Source: EIP-191,
 * of which wallets sign `personal_sign`. Takes more than a millisecond, and many where it was never run before.
 */
export function evmSigner(text: string, signature: string): string | undefined {
  if (!SIGNATURE.test(signature)) return undefined;
  const bytes = Buffer.from(signature.slice(2), 'hex');
  const parity = parityOf(bytes[64] ?? 0);
  if (parity === undefined) return undefined;
  try {
    const recovered = Uint8Array.from([parity, ...bytes.subarray(0, 64)]);
    const point = secp256k1.Signature.fromBytes(recovered, 'recovered').recoverPublicKey(digestOf(text));
    return `0x${Buffer.from(keccak_256(point.toBytes(false).subarray(1)).subarray(12)).toString('hex')}`;
  } catch {
    // Not a signature of anybody.
    return undefined;
  }
}

/** Wallets say 27 or 28, some 0 or 1. */
function parityOf(v: number): 0 | 1 | undefined {
  const parity = v >= 27 ? v - 27 : v;
  return parity === 0 || parity === 1 ? parity : undefined;
}

function digestOf(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return keccak_256(Buffer.concat([Buffer.from(`\u0019Ethereum Signed Message:\n${bytes.length}`), bytes]));
}

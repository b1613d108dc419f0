import { keccak_256 } from '@noble/hashes/sha3.js';

const SIGNATURE = /^0x[0-9a-f]{130}$/i;

/**
 * The lower-case address whose key signed a text, or undefined for an invalid signature. Source: EIP-191, as
 * in `personal_sign` of wallets. Takes a fraction of a millisecond, since the library of the curve is
 * WebAssembly, whose 1.2 MB are loaded by the first signature.
 */
export async function evmSigner(text: string, signature: string): Promise<string | undefined> {
  if (!SIGNATURE.test(signature)) return undefined;
  const bytes = Buffer.from(signature.slice(2), 'hex');
  const parity = parityOf(bytes[64] ?? 0);
  if (parity === undefined) return undefined;
  const { recover } = await import('tiny-secp256k1');
  try {
    const key = recover(digestOf(text), bytes.subarray(0, 64), parity, false);
    return key ? `0x${Buffer.from(keccak_256(key.subarray(1)).subarray(12)).toString('hex')}` : undefined;
  } catch {
    // Not the signature of any key.
    return undefined;
  }
}

/** Wallets use 27 or 28, some 0 or 1. */
function parityOf(v: number): 0 | 1 | undefined {
  const parity = v >= 27 ? v - 27 : v;
  return parity === 0 || parity === 1 ? parity : undefined;
}

function digestOf(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return keccak_256(Buffer.concat([Buffer.from(`\u0019Ethereum Signed Message:\n${bytes.length}`), bytes]));
}

import { type KeyObject, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import { type WireTransfer, cosigned } from './transfer-wire.js';

/** DER prefix of a raw Ed25519 private key, as Node reads it. Source: RFC 8410. */
const KEY_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

const BYTES = { seed: 32, pair: 64 };

/** The account that pays the fees of Solana payments and co-signs them. */
export class FeePayer {
  readonly address: string;
  private readonly key: KeyObject;

  /**
   * `text` is a key in the format of Solana's tools: 64 numbers in JSON, or the same bytes in base58. An
   * error does not reveal it. `second` completes payments that name it during key rotation.
   */
  constructor(
    text: string,
    private readonly second?: FeePayer,
  ) {
    const pair = pairOf(text.trim());
    this.key = createPrivateKey({
      key: Buffer.concat([KEY_PREFIX, pair.subarray(0, BYTES.seed)]),
      format: 'der',
      type: 'pkcs8',
    });
    const publicKey = createPublicKey(this.key).export({ format: 'der', type: 'spki' }).subarray(-BYTES.seed);
    if (!publicKey.equals(pair.subarray(BYTES.seed)))
      throw new Error('the halves of the signer key do not belong together');
    this.address = base58.encode(publicKey);
  }

  /** The fee payer of one key, or of two during rotation: the first is offered, payments may name either. */
  static of(text: string): FeePayer {
    const [first = '', second, ...rest] = keysIn(text.trim());
    if (rest.length > 0) throw new Error('there may be two signer keys at most');
    return new FeePayer(first, second === undefined ? undefined : new FeePayer(second));
  }

  /** The accounts that payments may name. */
  get addresses(): readonly [string, ...string[]] {
    return [this.address, ...(this.second?.addresses ?? [])];
  }

  /** The fee payer with this address, of the two. */
  at(address: string | undefined): FeePayer | undefined {
    return address === this.address ? this : this.second?.at(address);
  }

  /**
   * Adds this signature to the payer's. Also returns the transaction id, which is always the same for one
   * payment.
   */
  cosign(transfer: WireTransfer): { readonly signature: string; readonly wire: string } {
    const signature = sign(null, transfer.message, this.key);
    return { signature: base58.encode(signature), wire: cosigned(transfer, this.address, signature) };
  }
}

/** The keys in a setting or file: JSON arrays, or words. */
function keysIn(text: string): readonly string[] {
  return text.startsWith('[') ? (text.match(/\[[^\]]*\]/g) ?? [text]) : text.split(/\s+/);
}

function pairOf(text: string): Buffer {
  const fault = new Error('the signer key must be 64 numbers in JSON, or 64 bytes in base58');
  let bytes: Uint8Array;
  try {
    bytes = text.startsWith('[') ? Uint8Array.from(JSON.parse(text) as number[]) : base58.decode(text);
  } catch {
    throw fault;
  }
  if (bytes.length !== BYTES.pair) throw fault;
  return Buffer.from(bytes);
}

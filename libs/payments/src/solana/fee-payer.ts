import { type KeyObject, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import { type WireTransfer, cosigned } from './transfer-wire.js';

/** What stands before a raw Ed25519 key to make it one that Node reads. Source: RFC 8410. */
const KEY_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

const BYTES = { seed: 32, pair: 64 };

/** The account that pays the fees of payments on Solana, and signs beside who pays. */
export class FeePayer {
  readonly address: string;
  private readonly key: KeyObject;

  /**
   * `text` is a key as the tools of Solana write it: 64 numbers in JSON, or the same bytes in base58. Throws without telling it.
   * `second` completes payments that name it, while the key is rotated.
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

  /** The fee payer of one key, or of two while they are rotated: the first is offered, payments may name either. */
  static of(text: string): FeePayer {
    const [first = '', second, ...rest] = keysIn(text.trim());
    if (rest.length > 0) throw new Error('there may be two signer keys at most');
    return new FeePayer(first, second === undefined ? undefined : new FeePayer(second));
  }

  /** The accounts that payments may name. */
  get addresses(): readonly [string, ...string[]] {
    return [this.address, ...(this.second?.addresses ?? [])];
  }

  /** The one of these with an address. */
  at(address: string | undefined): FeePayer | undefined {
    return address === this.address ? this : this.second?.at(address);
  }

  /** A payment with this signature beside that of who pays, and its name on the chain: always the same for the same payment. */
  cosign(transfer: WireTransfer): { readonly signature: string; readonly wire: string } {
    const signature = sign(null, transfer.message, this.key);
    return { signature: base58.encode(signature), wire: cosigned(transfer, this.address, signature) };
  }
}

/** The keys of a setting or file: arrays, or words. */
function keysIn(text: string): readonly string[] {
  return text.startsWith('[') ? (text.match(/\[[^\]]*\]/g) ?? [text]) : text.split(/\s+/);
}

function pairOf(text: string): Buffer {
  const fault = new Error('the signer key has to be 64 numbers in JSON, or 64 bytes in base58');
  let bytes: Uint8Array;
  try {
    bytes = text.startsWith('[') ? Uint8Array.from(JSON.parse(text) as number[]) : base58.decode(text);
  } catch {
    throw fault;
  }
  if (bytes.length !== BYTES.pair) throw fault;
  return Buffer.from(bytes);
}

import { generateKeyPairSync, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import { SOLANA_NETWORK, SOLANA_USDC } from '@svc/contracts/money';
import { LocalSolana } from '@svc/infra';
import type { ClientSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { FeePayer } from '../src/solana/fee-payer.js';
import { type Commitment, SolanaChain } from '../src/solana/solana-chain.js';
import { OwnSolanaSubmission } from '../src/solana/solana-submissions.js';
import { readTransfer } from '../src/solana/transfer.js';
import { usdcAccount } from '../src/solana/transfer-wire.js';
import { crashing } from './crashing.js';
import { UNITS_PER_USD } from './offers.js';
import type { ProcessDependencies } from './payment-process.js';

const MAX_FEE_LAMPORTS = 100_000;

/** A payer's USDC: more than a history can pay. */
const PAYER_USDC = 5_000;

export interface SolanaPayer {
  readonly address: string;
  readonly signer: ClientSvmSigner;
}

/** A new account, with its key in the text format of the setting. */
export function keyPair() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const half = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  return { address: base58.encode(half), privateKey, text: JSON.stringify([...seed, ...half]) };
}

/** Payments on a local Solana. */
export class SolanaHarness {
  private constructor(
    readonly chain: LocalSolana,
    /** Used by processes started from now on. */
    public feePayer: FeePayer,
    /** The recipient and its USDC account. */
    private readonly seller: { readonly address: string; readonly account: string },
  ) {}

  get payTo(): string {
    return this.seller.address;
  }

  static async start(): Promise<SolanaHarness> {
    const chain = await LocalSolana.start();
    const feePayer = new FeePayer(keyPair().text);
    chain.fund(feePayer.address);
    const { address } = keyPair();
    await chain.mint(address, 0);
    return new SolanaHarness(chain, feePayer, { address, account: await usdcAccount(address) });
  }

  async payer(): Promise<SolanaPayer> {
    const { address, privateKey } = keyPair();
    await this.chain.mint(address, PAYER_USDC);
    const signTransactions = (all: readonly { readonly messageBytes: Uint8Array }[]) =>
      Promise.resolve(
        all.map(({ messageBytes }) => ({ [address]: new Uint8Array(sign(null, messageBytes, privateKey)) })),
      );
    // The library has branded types for addresses and signatures; these come from another library.
    return { address, signer: { address, signTransactions } as unknown as ClientSvmSigner };
  }

  /** A payment header for an amount in dollars, made by the library of x402 clients. */
  async headerOf({ signer }: SolanaPayer, usd: number): Promise<string> {
    const accepted = {
      scheme: 'exact',
      network: SOLANA_NETWORK,
      amount: String(BigInt(usd) * UNITS_PER_USD),
      asset: SOLANA_USDC,
      payTo: this.payTo,
      maxTimeoutSeconds: 300,
      extra: { feePayer: this.feePayer.address },
    } as const;
    const scheme = new ExactSvmScheme(signer, { rpcUrl: this.chain.url });
    const { payload } = await scheme.createPaymentPayload(2, accepted);
    return Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload })).toString('base64');
  }

  /** The rail, for a process that may die. */
  railOf(commitment: Commitment): ProcessDependencies['railOf'] {
    const { payTo, feePayer } = this;
    const destination = this.seller.account;
    const terms = { payTo, destination, maxFeeLamports: MAX_FEE_LAMPORTS, feePayers: feePayer.addresses };
    return (life, store) => {
      const node = new SolanaChain(
        { rpcUrl: this.chain.url, payTo, commitment, maxFeeLamports: MAX_FEE_LAMPORTS },
        feePayer,
      );
      const chain = crashing(node, life);
      return {
        name: 'solana',
        network: SOLANA_NETWORK,
        payTo,
        chain,
        submission: new OwnSolanaSubmission(chain, store, feePayer),
        offer: () => Promise.reject(new Error('nobody asks')),
        read: (content) => readTransfer(content, terms),
      };
    };
  }

  stop(): void {
    this.chain.stop();
  }
}

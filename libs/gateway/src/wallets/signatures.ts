import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Payments, Problem, type SignedText, walletName } from '@svc/contracts';
import { JobFailed, ThreadPool } from '@svc/threads';
import type { SignIn } from './sign-in-header.js';
import { isSignedBySolana, solanaKey } from './solana-signature.js';

/** The compiled thread, also when this file runs from its TypeScript source: threads load plain JavaScript only. */
const entry = new URL('../../dist/thread.js', import.meta.url);

export interface SignatureJob {
  readonly text: string;
  readonly signature: string;
}

/** A recovery takes 1 to 2 ms; who asks waits for those before, and at first for the thread to start. */
const BOUNDS = { threads: 1, queueLimit: 500, timeoutMs: 10_000, heapLimitMb: 64, buffersLimitMb: 64 };

const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Tells whether a wallet signed its sign-in. What takes longer than a fraction of a millisecond is done in a thread. */
@Injectable()
export class Signatures implements OnApplicationShutdown {
  readonly #pool = new ThreadPool<SignatureJob, string | undefined>(entry, BOUNDS);

  constructor(private readonly payments: Payments) {}

  async onApplicationShutdown(): Promise<void> {
    await this.#pool.close();
  }

  /**
   * The wallet that signed: its address, in lower case on Base, where that makes no difference. `from` says who asks:
   * nobody keeps others waiting. Refuses: X402_SIGN_IN_INVALID_WALLET, X402_SIGN_IN_INVALID_SIGNATURE, UNAVAILABLE.
   */
  async signer({ text, message, signature }: SignIn, from: string): Promise<string> {
    const { kind, address } = message;
    if (kind === 'solana') {
      const key = solanaKey(address);
      if (!key) throw new Problem('X402_SIGN_IN_INVALID_WALLET');
      if (!isSignedBySolana(key, text, signature)) throw new Problem('X402_SIGN_IN_INVALID_SIGNATURE');
      return address;
    }
    if (!ADDRESS.test(address)) throw new Problem('X402_SIGN_IN_INVALID_WALLET');
    const wallet = walletName(address);
    if ((await this.recover({ text, signature }, from)) === wallet) return wallet;
    if (await this.saysItself({ wallet, text, signature })) return wallet;
    throw new Problem('X402_SIGN_IN_INVALID_SIGNATURE');
  }

  /** A wallet that is a contract has no key that its signer could be told by: it is asked, where a chain is configured. */
  private async saysItself(signed: SignedText): Promise<boolean> {
    try {
      return await this.payments.hasSigned(signed);
    } catch (error) {
      if (error instanceof Problem && error.code === 'X402_NOT_CONFIGURED') return false;
      throw error;
    }
  }

  private async recover(job: SignatureJob, account: string): Promise<string | undefined> {
    try {
      return await this.#pool.run(job, { account });
    } catch (error) {
      if (error instanceof JobFailed) throw new Problem('UNAVAILABLE', { cause: error });
      throw error;
    }
  }
}

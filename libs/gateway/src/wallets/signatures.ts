import { Injectable } from '@nestjs/common';
import { Payments, Problem, type SignedText, walletName } from '@svc/contracts';
import { evmSigner } from './evm-signer.js';
import type { SignIn } from './sign-in-header.js';
import { isSignedBySolana, solanaKey } from './solana-signature.js';

const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Tells whether a wallet signed its sign-in: a fraction of a millisecond, unless the chain has to be asked. */
@Injectable()
export class Signatures {
  constructor(private readonly payments: Payments) {}

  /**
   * The wallet that signed: its address, in lower case on Base, where that makes no difference. Refuses:
   * X402_SIGN_IN_INVALID_WALLET, X402_SIGN_IN_INVALID_SIGNATURE, UNAVAILABLE.
   */
  async signer({ text, message, signature }: SignIn): Promise<string> {
    const { kind, address } = message;
    if (kind === 'solana') {
      const key = solanaKey(address);
      if (!key) throw new Problem('X402_SIGN_IN_INVALID_WALLET');
      if (!isSignedBySolana(key, text, signature)) throw new Problem('X402_SIGN_IN_INVALID_SIGNATURE');
      return address;
    }
    if (!ADDRESS.test(address)) throw new Problem('X402_SIGN_IN_INVALID_WALLET');
    const wallet = walletName(address);
    if (evmSigner(text, signature) === wallet) return wallet;
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
}

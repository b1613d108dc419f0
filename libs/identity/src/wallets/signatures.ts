import { Injectable } from '@nestjs/common';
import { Payments, type SignedText, walletName } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import pLimit from 'p-limit';
import { evmSigner } from './evm-signer.js';
import type { SignInMessage } from './sign-in-message.js';
import { isSignedBySolana, solanaKey } from './solana-signature.js';

export const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;

/** Concurrent calls for contract wallets; the bound below limits those that wait. */
const CALLS = 16;
/**
 * The same for all blocked addresses together, so that a flood of wrong signatures leaves the node to other
 * callers.
 */
const SUSPECT_CALLS = 2;
const MAX_WAITING = 100;

/** A text that a wallet is said to have signed. */
export interface WalletSigned {
  readonly text: string;
  readonly message: Pick<SignInMessage, 'kind' | 'address'>;
  readonly signature: string;
}

/**
 * Verifies the signatures of wallets. Takes a fraction of a millisecond, plus calls of a node for contract
 * wallets.
 */
@Injectable()
export class Signatures {
  private readonly calls = pLimit(CALLS);
  private readonly suspectCalls = pLimit(SUSPECT_CALLS);

  constructor(private readonly payments: Payments) {}

  /**
   * The address of the wallet that signed; lower-case on Base, where case has no meaning. Refuses:
   * X402_SIGN_IN_INVALID_WALLET, X402_SIGN_IN_INVALID_SIGNATURE, UNAVAILABLE.
   */
  async signer({ text, message, signature }: WalletSigned, isSuspect: boolean): Promise<string> {
    const { kind, address } = message;
    if (kind === 'solana') {
      const key = solanaKey(address);
      if (!key) throw new Problem('X402_SIGN_IN_INVALID_WALLET');
      if (!isSignedBySolana(key, text, signature)) throw new Problem('X402_SIGN_IN_INVALID_SIGNATURE');
      return address;
    }
    if (!EVM_ADDRESS.test(address)) throw new Problem('X402_SIGN_IN_INVALID_WALLET');
    const wallet = walletName(address);
    if ((await evmSigner(text, signature)) === wallet) return wallet;
    if (await this.contractAccepts({ wallet, text, signature }, isSuspect)) return wallet;
    throw new Problem('X402_SIGN_IN_INVALID_SIGNATURE');
  }

  /** A contract wallet has no key to verify against, so its contract is called, if a chain is configured. */
  private async contractAccepts(signed: SignedText, isSuspect: boolean): Promise<boolean> {
    const calls = isSuspect ? this.suspectCalls : this.calls;
    if (calls.pendingCount >= MAX_WAITING) throw new Problem('UNAVAILABLE');
    try {
      return await calls(() => this.payments.hasSigned(signed));
    } catch (error) {
      if (error instanceof Problem && error.code === 'X402_NOT_CONFIGURED') return false;
      throw error;
    }
  }
}

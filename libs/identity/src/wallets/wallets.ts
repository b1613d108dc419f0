import { Injectable } from '@nestjs/common';
import { type Caller, walletAccountId } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { OTHER, payments } from '@svc/telemetry';
import { LRUCache } from 'lru-cache';
import { accountTerms } from '../accounts/account-rows.js';
import { isForConsole } from './console-message.js';
import { PublicOrigin } from './public-origin.js';
import { type SignIn, readSignIn } from './sign-in-header.js';
import type { SignInMessage } from './sign-in-message.js';
import { Signatures } from './signatures.js';
import { type WalletFound, WalletStore } from '../accounts/wallet.store.js';
import type { Incoming } from '@svc/runtime';

/** Source of both: the public interface. */
const AGE_MS = 300_000;
const AHEAD_MS = 30_000;

/** Concurrent requests of a wallet. Source: the public interface. */
export const WALLET_CONCURRENT = 5;

/** Nonces that are rejected again without the database. */
const USED_NONCES = 10_000;

/** The sign-in header of a request, under either of its names. */
export function signInOf({ headers }: Incoming): string | undefined {
  const header = headers['sign-in-with-x'] ?? headers['x-sign-in-with-x'];
  return Array.isArray(header) ? header.join() : header;
}

/** Identifies wallets by their sign-ins. */
@Injectable()
export class Wallets {
  private readonly used = new LRUCache<string, true>({ max: USED_NONCES });

  constructor(
    private readonly origin: PublicOrigin,
    private readonly signatures: Signatures,
    private readonly store: WalletStore,
  ) {}

  /**
   * The wallet of a sign-in, which is valid once. `isSuspect` is set for addresses with too many failures.
   * Refuses with the codes of a sign-in, X402_NOT_CONFIGURED, UNAVAILABLE.
   */
  async identify(header: string, request: Incoming, isSuspect: boolean): Promise<Caller> {
    try {
      const caller = await this.callerOf(header, request, isSuspect);
      payments.signIns.add(1, '');
      return caller;
    } catch (error) {
      payments.signIns.add(1, error instanceof Problem ? error.code : OTHER);
      throw error;
    }
  }

  private async callerOf(header: string, request: Incoming, isSuspect: boolean): Promise<Caller> {
    const origin = this.origin.get(request);
    const signIn: SignIn = readSignIn(header);
    checkTerms(signIn.message, origin, Date.now());
    if (isForConsole(signIn.message)) throw foreignMessage(origin, 'must not be that of the console');
    const wallet = await this.signatures.signer(signIn, isSuspect);
    const { isFresh, account } = await this.enter(wallet, signIn.message.nonce);
    if (!isFresh) throw new Problem('X402_SIGN_IN_NONCE_REUSED');
    return {
      accountId: walletAccountId(wallet),
      keyId: `wallet:${wallet}`,
      wallet,
      keyType: 'INFERENCE',
      modelPrivacy: 'ALL',
      concurrent: WALLET_CONCURRENT,
      // A wallet pays for each request, so it may use models reserved for paying accounts.
      ...(account ? accountTerms(account) : { tier: 'standard', paid: true }),
    };
  }

  private async enter(wallet: string, nonce: string): Promise<WalletFound> {
    const use = `${wallet} ${nonce}`;
    if (this.used.has(use)) return { isFresh: false, account: undefined };
    try {
      const found = await this.store.enter(wallet, nonce);
      this.used.set(use, true);
      return found;
    } catch (error) {
      // Without a nonce check the sign-in is neither valid nor wrong.
      throw new Problem('UNAVAILABLE', { cause: error });
    }
  }
}

/** Checks that a sign-in is for this service and currently valid. */
export function checkTerms(message: SignInMessage, origin: URL, nowMs: number): void {
  const {
    domain,
    uri,
    version,
    issuedAtMs,
    expiresAtMs = Number.POSITIVE_INFINITY,
    notBeforeMs = 0,
  } = message;
  if (version !== '1') {
    throw new Problem('X402_SIGN_IN_INVALID_MESSAGE', {
      message: 'The version of the sign-in message must be 1.',
    });
  }
  const isOurs = URL.canParse(uri) && new URL(uri).origin === origin.origin;
  if (domain.toLowerCase() !== origin.host || !isOurs) {
    throw foreignMessage(origin, `must be on ${origin.origin}`);
  }
  if (issuedAtMs > nowMs + AHEAD_MS) throw new Problem('X402_SIGN_IN_FUTURE_TIMESTAMP');
  if (issuedAtMs < nowMs - AGE_MS || expiresAtMs <= nowMs) throw new Problem('X402_SIGN_IN_EXPIRED');
  if (notBeforeMs > nowMs + AHEAD_MS) throw new Problem('X402_SIGN_IN_NOT_BEFORE');
}

/** The error for a message that was signed for something else. */
export function foreignMessage(origin: URL, uriTerms: string): Problem {
  return new Problem('X402_SIGN_IN_DOMAIN_MISMATCH', {
    message: `The sign-in message is for another service: its domain must be ${origin.host} and its URI ${uriTerms}.`,
  });
}

import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { walletName } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { CONSOLE_HOME, type Incoming } from '@svc/runtime';
import { AccountStore } from '../accounts/account.store.js';
import { refuseUse } from '../accounts/key-use.js';
import { KeyStore } from '../accounts/key.store.js';
import { PublicOrigin } from '../wallets/public-origin.js';
import { readSignedMessage } from '../wallets/sign-in-header.js';
import { Signatures } from '../wallets/signatures.js';
import { checkTerms, foreignMessage } from '../wallets/wallets.js';
import type { Identity } from './session.store.js';
import { TicketStore } from './ticket.store.js';

/** How someone shows the console who they are. */
export type Proof =
  | { readonly apiKey: string }
  | { readonly message: string; readonly signature: string }
  | { readonly link: string };

/** The subjects of tickets. */
export const ticketOfWallet = (wallet: string): string => `wallet:${wallet}`;
export const ticketOfAccount = (accountId: string): string => `account:${accountId}`;

/** Verifies who signs in to the console. */
@Injectable()
export class Proofs {
  constructor(
    private readonly keys: KeyStore,
    private readonly accounts: AccountStore,
    private readonly tickets: TicketStore,
    private readonly signatures: Signatures,
    private readonly origin: PublicOrigin,
  ) {}

  /**
   * Refuses: AUTHENTICATION_FAILED, ACCOUNT_SUSPENDED, ADDRESS_NOT_ALLOWED, the codes of a sign-in,
   * X402_NOT_CONFIGURED.
   */
  async identify(proof: Proof, request: Incoming): Promise<Identity> {
    if ('apiKey' in proof) return this.byKey(proof.apiKey, request);
    if ('link' in proof) return this.byLink(proof.link);
    return this.byWallet(proof, request);
  }

  /** Looks each key up in the same way, without a cache: unknown and expired keys get the same response. */
  private async byKey(apiKey: string, request: Incoming): Promise<Identity> {
    const digest = Uint8Array.from(hash('sha256', apiKey, 'buffer'));
    const found = (await this.keys.findByDigests([digest])).get(Buffer.from(digest).toString('base64'));
    if (!found) throw new Problem('AUTHENTICATION_FAILED');
    const { accountId, keyId, keyType, isSuspended } = found.caller;
    if (isSuspended) throw new Problem('ACCOUNT_SUSPENDED');
    refuseUse(found.caller, request);
    return { accountId, keyId, keyType };
  }

  private async byLink(link: string): Promise<Identity> {
    const subject = await this.tickets.use(link);
    const prefix = ticketOfAccount('');
    if (!subject?.startsWith(prefix)) throw new Problem('AUTHENTICATION_FAILED');
    return { accountId: subject.slice(prefix.length) };
  }

  /** The nonce is used up last, so that a wrong signature does not cost its owner the message. */
  private async byWallet(
    { message: text, signature }: { message: string; signature: string },
    request: Incoming,
  ): Promise<Identity> {
    const origin = this.origin.get(request);
    const signIn = readSignedMessage({ message: text, signature });
    checkTerms(signIn.message, origin, Date.now());
    if (signIn.message.uri !== `${origin.origin}${CONSOLE_HOME}`)
      throw foreignMessage(origin, `must be ${origin.origin}${CONSOLE_HOME}`);
    const wallet = walletName(await this.signatures.signer(signIn, true));
    if ((await this.tickets.use(signIn.message.nonce)) !== ticketOfWallet(wallet))
      throw new Problem('X402_SIGN_IN_NONCE_REUSED');
    const { id: accountId, state } = await this.accounts.ofWallet(wallet);
    if (state === 'suspended') throw new Problem('ACCOUNT_SUSPENDED');
    return { accountId, wallet };
  }
}

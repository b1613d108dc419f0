import { Injectable } from '@nestjs/common';
import type { ConsoleChallenge } from '@svc/api/console';
import { MINUTE_MS } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import {
  type Identity,
  type Proof,
  Proofs,
  type StoredSession,
  SessionStore,
  TicketStore,
  ticketOfAccount,
  ticketOfWallet,
} from '@svc/identity/console';
import { PublicOrigin, consoleMessage, signingWallet } from '@svc/identity/wallets';
import type { FastifyRequest } from 'fastify';

const CHALLENGE_MS = 5 * MINUTE_MS;
const LINK_MS = 15 * MINUTE_MS;

/** Signs people in to the console. */
@Injectable()
export class SignIns {
  constructor(
    private readonly proofs: Proofs,
    private readonly sessions: SessionStore,
    private readonly tickets: TicketStore,
    private readonly origin: PublicOrigin,
  ) {}

  /**
   * A text that this wallet can sign in with once. Refuses: X402_NOT_CONFIGURED,
   * X402_SIGN_IN_INVALID_WALLET.
   */
  async challenge(address: string, request: FastifyRequest): Promise<ConsoleChallenge> {
    const origin = this.origin.get(request);
    const wallet = signingWallet(address);
    const until = new Date(Date.now() + CHALLENGE_MS);
    const nonce = await this.tickets.issue(ticketOfWallet(wallet), CHALLENGE_MS);
    return { message: consoleMessage(wallet, { origin, nonce, until }), expiresAt: until.toISOString() };
  }

  /** The secret of a link that signs in to an account once, within a quarter of an hour. */
  link(accountId: string): Promise<string> {
    return this.tickets.issue(ticketOfAccount(accountId), LINK_MS);
  }

  /** Refuses as `Proofs.identify`. */
  async begin(
    proof: Proof,
    request: FastifyRequest,
    client: Pick<StoredSession, 'network' | 'agent'>,
  ): Promise<{ token: string; session: StoredSession }> {
    const token = await this.sessions.begin(await this.proofs.identify(proof, request), client);
    const session = await this.sessions.find(token);
    // Its key may have been revoked in this moment.
    if (!session) throw new Problem('AUTHENTICATION_FAILED');
    return { token, session };
  }

  /** Proves once more who is in a session. Refuses as `Proofs.identify`. */
  async prove(session: StoredSession, proof: Proof, request: FastifyRequest): Promise<Date> {
    if (!isSame(session, await this.proofs.identify(proof, request)))
      throw new Problem('AUTHENTICATION_FAILED');
    return this.sessions.prove(session);
  }

  beside(session: StoredSession): Promise<StoredSession[]> {
    return this.sessions.beside(session);
  }

  end(session: StoredSession, id: string): Promise<boolean> {
    return this.sessions.end(session, id);
  }

  endOthers(session: StoredSession): Promise<void> {
    return this.sessions.endOthers(session);
  }
}

/** A session is proven by the key or the wallet that began it; one that a link began, by an ADMIN key. */
function isSame(session: StoredSession, identity: Identity): boolean {
  if (identity.accountId !== session.accountId) return false;
  if (session.key) return identity.keyId === session.key.id;
  if (session.wallet !== undefined) return identity.wallet === session.wallet;
  return identity.keyType === 'ADMIN';
}

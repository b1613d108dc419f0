import { hash, randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, type KeyType, consoleKeyId, isBound } from '@svc/contracts/ports';
import { Database, PrismaDatabase } from '@svc/storage';
import { accountTerms, type AccountRow } from '../accounts/account-rows.js';
import { callerOf, readKey, type StoredKey } from '../accounts/key-rows.js';
import { WALLET_CONCURRENT } from '../wallets/wallets.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of the console, on its requests only. */
    session?: StoredSession;
  }
}

const MINUTE_MS = 60_000;
/** A session ends when it has not been used for this long, */
const IDLE_MS = 60 * MINUTE_MS;
/** and after this time however it is used. */
export const SESSION_MS = 720 * MINUTE_MS;
/** How exactly it is known when a session was last used. */
const SEEN_MS = MINUTE_MS;
/** The most sessions of an account: a further one ends the oldest. */
const SESSIONS_MAX = 100;

/** Who signed in: an account, by one of its keys, by its wallet, or by a printed link. */
export interface Identity {
  readonly accountId: string;
  readonly keyId?: string;
  readonly keyType?: KeyType;
  readonly wallet?: string;
}

/** A session of the console, as long as neither it nor its key has ended. */
export interface StoredSession {
  readonly id: string;
  readonly accountId: string;
  readonly kind: 'admin' | 'inference' | 'wallet';
  readonly key: StoredKey | undefined;
  readonly wallet: string | undefined;
  readonly network: string;
  readonly agent: string;
  readonly createdAt: Date;
  readonly seenAt: Date;
  readonly provenAt: Date;
  readonly expiresAt: Date;
  /** What it may do: never more than its key may do now. */
  readonly caller: Caller;
}

/**
 * The sessions of the console. Nothing of them is cached, so that the end of a session, or of its key, holds
 * in every process at once.
 */
@Injectable()
export class SessionStore {
  constructor(
    private readonly prisma: PrismaDatabase,
    private readonly database: Database,
  ) {}

  /** Begins a session. Returns its secret, of which only the hash is stored. */
  async begin({ accountId, keyId, wallet }: Identity, client: Pick<StoredSession, 'network' | 'agent'>) {
    const token = randomBytes(32).toString('base64url');
    await this.prisma.consoleSession.create({
      data: {
        ...client,
        tokenSha256: digestOf(token),
        id: randomUUID(),
        accountId,
        keyId: keyId ?? null,
        wallet: wallet ?? null,
        expiresAt: new Date(Date.now() + SESSION_MS),
      },
    });
    await this.database.query(
      `DELETE FROM gateway.console_sessions WHERE id IN (
         SELECT id FROM gateway.console_sessions WHERE account_id = $1 ORDER BY created_at DESC, id OFFSET $2)`,
      [accountId, SESSIONS_MAX],
    );
    return token;
  }

  async find(token: string): Promise<StoredSession | undefined> {
    const tokenSha256 = digestOf(token);
    const row = await this.prisma.consoleSession.findFirst({
      where: { tokenSha256, ...stillOpen() },
      include: PARTS,
    });
    if (row && row.seenAt.getTime() < Date.now() - SEEN_MS)
      await this.prisma.consoleSession.updateMany({ where: { tokenSha256 }, data: { seenAt: new Date() } });
    return row ? sessionOf(row) : undefined;
  }

  /** The open sessions that a session may see and end: those of its account, or only those of its key. */
  async beside(session: StoredSession): Promise<StoredSession[]> {
    const rows = await this.prisma.consoleSession.findMany({
      where: { ...reachOf(session), ...stillOpen() },
      include: PARTS,
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    });
    return rows.map(sessionOf);
  }

  /** Ends one of the sessions that a session may see. Returns false if there is no such session. */
  async end(session: StoredSession, id: string): Promise<boolean> {
    const { count } = await this.prisma.consoleSession.deleteMany({ where: { ...reachOf(session), id } });
    return count > 0;
  }

  /** Ends all other sessions that a session may see. */
  async endOthers(session: StoredSession): Promise<void> {
    await this.prisma.consoleSession.deleteMany({
      where: { ...reachOf(session), id: { not: session.id } },
    });
  }

  /** Notes that the key or wallet of a session has been proven again. */
  async prove({ id }: StoredSession): Promise<Date> {
    const provenAt = new Date();
    await this.prisma.consoleSession.updateMany({ where: { id }, data: { provenAt } });
    return provenAt;
  }
}

const digestOf = (token: string): Uint8Array<ArrayBuffer> => Uint8Array.from(hash('sha256', token, 'buffer'));

const PARTS = {
  key: true,
  account: { include: { limits: { orderBy: { model: 'asc' } } } },
} as const;

function stillOpen() {
  const now = new Date();
  const keyIsValid = { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] };
  return {
    expiresAt: { gt: now },
    seenAt: { gt: new Date(now.getTime() - IDLE_MS) },
    OR: [{ keyId: null }, { key: { is: keyIsValid } }],
  };
}

const reachOf = ({ accountId, kind, key }: StoredSession) => ({
  accountId,
  ...(kind === 'inference' && { keyId: key?.id ?? null }),
});

interface SessionRow extends Omit<StoredSession, 'kind' | 'key' | 'wallet' | 'caller'> {
  readonly key: object | null;
  readonly wallet: string | null;
  readonly account: AccountRow;
}

function sessionOf(row: SessionRow): StoredSession {
  const key = row.key ? readKey(row.key) : undefined;
  const wallet = row.wallet ?? undefined;
  const { id, accountId, network, agent, createdAt, seenAt, provenAt, expiresAt } = row;
  return {
    id,
    accountId,
    network,
    agent,
    createdAt,
    seenAt,
    provenAt,
    expiresAt,
    kind: wallet !== undefined ? 'wallet' : key?.apiKeyType === 'INFERENCE' ? 'inference' : 'admin',
    key,
    wallet,
    caller: key ? callerByKey(key, row.account) : callerOfAccount(row),
  };
}

/**
 * The caller in a session of a key. It spends as the console, but as the key itself if that is for inference
 * or has limits or restrictions, so that none of them is lost.
 */
function callerByKey(key: StoredKey, account: AccountRow): Caller {
  const caller = callerOf(key, account);
  return caller.keyType === 'INFERENCE' || isBound(caller)
    ? caller
    : { ...caller, keyId: consoleKeyId(key.accountId) };
}

function callerOfAccount({ accountId, wallet, account }: SessionRow): Caller {
  return {
    accountId,
    keyId: consoleKeyId(accountId),
    keyType: 'ADMIN',
    modelPrivacy: 'ALL',
    ...(wallet !== null && { wallet, concurrent: WALLET_CONCURRENT }),
    ...accountTerms(account),
  };
}

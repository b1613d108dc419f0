import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, KEY_PREFIX, type KeySpend, type KeyType } from '@svc/contracts/ports';
import { NO_MONEY } from '@svc/contracts/money';
import { Problem } from '@svc/contracts/problems';
import { keyChanged } from '@svc/contracts/messages';
import { type RunStatement, addToOutbox } from '@svc/events';
import { Database, PrismaDatabase } from '@svc/storage';
import { z } from 'zod';
import { givenUp, inherited, refuseOwnRaise, refuseUseless, refuseWider } from './key-allowance.js';
import { type KeyTerms, type StoredKey, callerOf, inPeriod, keyColumns, readKey } from './key-rows.js';

/** A caller, and how long its key stays valid unless it is revoked. */
export interface KeyFound {
  readonly caller: Caller;
  readonly validForMs: number;
}

/** A newly created key. */
export interface MadeKey {
  readonly key: StoredKey;
  /** The only copy of the secret. */
  readonly secret: string;
}

/** An account, and the key on whose behalf its keys are changed if that has limits. */
export interface KeyAuthor {
  readonly accountId: string;
  readonly limited?: { readonly keyId: string; readonly spend: KeySpend | undefined };
}

/** Who revokes a key: an operator, by the token's name, or a customer, by the key in use or the console. */
export type KeyRevoker = `operator:${string}` | `key:${string}` | 'console';

/** The parts of a key by which people recognise it. */
export interface KeyLabel {
  readonly id: string;
  readonly description: string;
  readonly last6: string;
  readonly tags: readonly string[];
}

/** The most keys an account may have, not counting expired and revoked ones. Source: the public interface. */
export const ACTIVE_KEYS_MAX = 500;

/**
 * API keys. Only the SHA-256 of a secret is stored: it has 256 random bits, so a slow hash would add nothing.
 */
@Injectable()
export class KeyStore {
  constructor(
    private readonly prisma: PrismaDatabase,
    private readonly database: Database,
  ) {}

  /**
   * The callers whose secrets have these SHA-256 digests, by base64 digest. Revoked and expired keys are left
   * out.
   */
  async findByDigests(digests: readonly Uint8Array<ArrayBuffer>[]): Promise<ReadonlyMap<string, KeyFound>> {
    const secrets = [...digests];
    const rows = await this.prisma.apiKey.findMany({
      where: {
        OR: [{ secretSha256: { in: secrets } }, { earlierSecretSha256: { in: secrets } }],
        AND: stillActive(),
      },
      include: { account: { include: { limits: { orderBy: { model: 'asc' } } } } },
    });
    const found = new Map<string, KeyFound>();
    for (const row of rows) {
      const caller = callerOf(readKey(row), row.account);
      const note = (secret: Uint8Array, until: Date | null): void => {
        const validForMs = until ? until.getTime() - Date.now() : Number.POSITIVE_INFINITY;
        if (validForMs > 0) found.set(Buffer.from(secret).toString('base64'), { caller, validForMs });
      };
      note(row.secretSha256, row.expiresAt);
      const { earlierSecretSha256: earlier, earlierSecretUntil: until } = row;
      if (earlier && until) note(earlier, row.expiresAt && row.expiresAt < until ? row.expiresAt : until);
    }
    return found;
  }

  /** The caller that holds the account's key of this id, unless it is revoked or expired. */
  async holder(accountId: string, id: string): Promise<Caller | undefined> {
    const row = await this.prisma.apiKey.findFirst({
      where: { id, accountId, ...stillActive() },
      include: { account: { include: { limits: { orderBy: { model: 'asc' } } } } },
    });
    return row ? callerOf(readKey(row), row.account) : undefined;
  }

  /** Creates a key. Returns undefined if the account has the maximum number of keys. */
  create(accountId: string, apiKeyType: KeyType, terms: Partial<KeyTerms>): Promise<MadeKey | undefined> {
    return this.createBy({ accountId }, apiKeyType, terms);
  }

  /** As `create`. Refuses what the author cannot give: INVALID_REQUEST. */
  async createBy(
    author: KeyAuthor,
    apiKeyType: KeyType,
    terms: Partial<KeyTerms>,
  ): Promise<MadeKey | undefined> {
    const { accountId } = author;
    refuseUseless(apiKeyType, terms);
    const { secret, ...stored } = newSecret(apiKeyType);
    const fixed = { id: randomUUID(), accountId, apiKeyType, ...stored };
    const row = await this.prisma.$transaction(async (transaction) => {
      await lockKeys(transaction, accountId);
      const active = await transaction.apiKey.count({ where: { accountId, ...stillActive() } });
      if (active >= ACTIVE_KEYS_MAX) return undefined;
      const given = await giveUp(transaction, author, { before: undefined, apiKeyType, terms });
      return transaction.apiKey.create({ data: { description: '', ...keyColumns(given), ...fixed } });
    });
    return row ? { key: readKey(row), secret } : undefined;
  }

  /** The account's keys that are neither revoked nor expired, newest first. */
  async list(accountId: string): Promise<StoredKey[]> {
    const rows = await this.prisma.apiKey.findMany({
      where: { accountId, ...stillActive() },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    });
    return rows.map(readKey);
  }

  /** The account's key of this id, unless it is revoked or expired. */
  async find(accountId: string, id: string): Promise<StoredKey | undefined> {
    if (!isUuid(id)) return undefined;
    const row = await this.prisma.apiKey.findFirst({ where: { id, accountId, ...stillActive() } });
    return row ? readKey(row) : undefined;
  }

  /** The labels of these keys of the account, including revoked ones. Ids of anything else are ignored. */
  labels(accountId: string, keyIds: readonly string[]): Promise<KeyLabel[]> {
    return this.prisma.apiKey.findMany({
      where: { accountId, id: { in: keyIds.filter(isUuid) } },
      select: { id: true, description: true, last6: true, tags: true },
    });
  }

  /**
   * Changes the given properties and adds an event to the outbox. Returns undefined if the account has no
   * such active key.
   */
  change(accountId: string, id: string, terms: Partial<KeyTerms>): Promise<StoredKey | undefined> {
    return this.changeBy({ accountId }, id, terms);
  }

  /** As `change`. Refuses what the author cannot give: INVALID_REQUEST. */
  async changeBy(author: KeyAuthor, id: string, terms: Partial<KeyTerms>): Promise<StoredKey | undefined> {
    if (!isUuid(id)) return undefined;
    const { accountId } = author;
    const row = await this.prisma.$transaction(async (transaction) => {
      if (author.limited) {
        await lockKeys(transaction, accountId);
        const before = await transaction.apiKey.findFirst({ where: { id, accountId, ...stillActive() } });
        const key = before && readKey(before);
        if (key) await giveUp(transaction, author, { before: key, apiKeyType: key.apiKeyType, terms });
      }
      const [changed] = await transaction.apiKey.updateManyAndReturn({
        where: { id, accountId, ...stillActive() },
        data: keyColumns(terms),
      });
      if (!changed) return undefined;
      refuseUseless(readKey(changed).apiKeyType, terms);
      await noteChange(transaction, { accountId, keyId: id });
      return changed;
    });
    return row ? readKey(row) : undefined;
  }

  /**
   * Gives a key a new secret, and adds an event to the outbox. The earlier secret works until a time; one
   * from before that no longer does. A key on whose behalf others are changed rotates only itself and keys
   * that may do no more. Returns undefined if the account has no such active key. Refuses: INVALID_REQUEST.
   */
  async rotateBy(author: KeyAuthor, id: string, until: Date): Promise<MadeKey | undefined> {
    if (!isUuid(id)) return undefined;
    const { accountId, limited } = author;
    return this.prisma.$transaction(async (transaction) => {
      await lockKeys(transaction, accountId);
      const row = await transaction.apiKey.findFirst({ where: { id, accountId, ...stillActive() } });
      if (!row) return undefined;
      const key = readKey(row);
      if (limited && limited.keyId !== id) {
        const giver = await authorOf(transaction, accountId, limited.keyId);
        refuseWider(giver, key.apiKeyType, key);
        refuseOwnRaise(giver, key);
      }
      const { secret, secretSha256, last6 } = newSecret(key.apiKeyType);
      const earlier = { earlierSecretSha256: row.secretSha256, earlierSecretUntil: until };
      await transaction.apiKey.update({ where: { id }, data: { secretSha256, last6, ...earlier } });
      await noteChange(transaction, { accountId, keyId: id });
      return { key: { ...key, last6 }, secret };
    });
  }

  /**
   * Revokes a key and adds an event to the outbox. Returns false if the account has no such key. Idempotent:
   * the first revocation is kept, with who made it.
   */
  async revoke(accountId: string, id: string, by: KeyRevoker): Promise<boolean> {
    if (!isUuid(id)) return false;
    return this.database.transaction(async (client) => {
      const { rowCount } = await client.query(
        `UPDATE gateway.api_keys SET revoked_at = coalesce(revoked_at, now()),
           revoked_by = CASE WHEN revoked_at IS NULL THEN $3 ELSE revoked_by END
         WHERE id = $1 AND account_id = $2`,
        [id, accountId, by],
      );
      if (rowCount === 0) return false;
      const run: RunStatement = (sql, values) => client.query(sql, [...values]);
      await addToOutbox(run, keyChanged, { accountId, keyId: id });
      return true;
    });
  }

  /**
   * Records when keys were last used, as Unix milliseconds by key. All writers lock the rows in the same
   * order.
   */
  async noteUses(uses: ReadonlyMap<string, number>): Promise<void> {
    await this.database.query(
      `WITH used AS (
         SELECT key.id, given.at
         FROM unnest($1::uuid[], $2::timestamptz[]) AS given (id, at) JOIN gateway.api_keys AS key USING (id)
         WHERE key.last_used_at IS NULL OR key.last_used_at < given.at
         ORDER BY key.id FOR NO KEY UPDATE OF key
       )
       UPDATE gateway.api_keys AS key SET last_used_at = used.at FROM used WHERE key.id = used.id`,
      [[...uses.keys()], [...uses.values()].map((atMs) => new Date(atMs))],
    );
  }

  /** The account's oldest key. */
  async first(accountId: string): Promise<{ last6: string; works: boolean } | undefined> {
    const key = await this.prisma.apiKey.findFirst({ where: { accountId }, orderBy: { createdAt: 'asc' } });
    return key ? { last6: key.last6, works: key.revokedAt === null } : undefined;
  }
}

type Transaction = Parameters<Parameters<PrismaDatabase['$transaction']>[0]>[0];

/** Serializes the creations of keys for an account, and changes by keys with limits. */
async function lockKeys(transaction: Transaction, accountId: string): Promise<void> {
  await transaction.$queryRaw`SELECT 1 FROM gateway.accounts WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`;
}

async function noteChange(
  transaction: Transaction,
  change: { readonly accountId: string; readonly keyId: string },
): Promise<void> {
  const run: RunStatement = (sql, values) => transaction.$executeRawUnsafe(sql, ...values);
  await addToOutbox(run, keyChanged, change);
}

/** The terms that a key gets, and the key before, unless it is new. */
interface GivenTerms {
  readonly before: StoredKey | undefined;
  readonly apiKeyType: KeyType;
  readonly terms: Partial<KeyTerms>;
}

/**
 * Takes what a key gets from the limits of the key on whose behalf it is changed, and returns its terms: a
 * new key has the restrictions of that key where it has none of its own.
 */
async function giveUp(
  transaction: Transaction,
  { accountId, limited }: KeyAuthor,
  { before, apiKeyType, terms: own }: GivenTerms,
): Promise<Partial<KeyTerms>> {
  if (!limited) return own;
  const giver = await authorOf(transaction, accountId, limited.keyId);
  const terms = before ? own : inherited(giver, apiKeyType, own);
  refuseWider(giver, apiKeyType, terms);
  const after = { ...(before ?? NEW_KEY), ...terms };
  if (before?.id === giver.id) {
    refuseOwnRaise(giver, after);
    return terms;
  }
  const given = givenUp(giver, { before, after }, limited.spend ? inPeriod(limited.spend, giver) : NO_MONEY);
  if (given.usdNano === 0n && given.diemNano === 0n) return terms;
  const { usdLimitNano, diemLimitNano } = giver;
  const left = {
    ...(usdLimitNano !== null && { usdLimitNano: usdLimitNano - given.usdNano }),
    ...(diemLimitNano !== null && { diemLimitNano: diemLimitNano - given.diemNano }),
  };
  await transaction.apiKey.update({ where: { id: giver.id }, data: keyColumns(left) });
  await noteChange(transaction, { accountId, keyId: giver.id });
  return terms;
}

/** The key on whose behalf others are changed, unless it was revoked meanwhile. */
async function authorOf(transaction: Transaction, accountId: string, id: string): Promise<StoredKey> {
  const row = await transaction.apiKey.findFirst({ where: { id, accountId, ...stillActive() } });
  if (!row) throw new Problem('AUTHENTICATION_FAILED');
  return readKey(row);
}

function newSecret(keyType: KeyType) {
  const secret = KEY_PREFIX[keyType] + randomBytes(32).toString('base64url');
  const secretSha256 = Uint8Array.from(createHash('sha256').update(secret).digest());
  return { secret, secretSha256, last6: secret.slice(-6) };
}

/** The limits of a new key without terms. */
const NEW_KEY = {
  usdLimitNano: null,
  diemLimitNano: null,
  limitPeriod: 'EPOCH',
  requestLimitNano: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  requestsPerDay: null,
  tokensPerDay: null,
} as const;

const stillActive = () => ({
  revokedAt: null,
  OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }],
});

/** Checked first, since the database rejects ids that are not UUIDs. */
const isUuid = (id: string): boolean => z.guid().safeParse(id).success;

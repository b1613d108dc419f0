import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Caller, type CreatedApiKey, KEY_PREFIX, type NewApiKey } from '@svc/contracts';
import { PrismaDatabase } from '@svc/storage';

/** A caller, and how long its key is known to stay valid. */
export interface KeyFound {
  readonly caller: Caller;
  readonly validForMs: number;
}

/** API keys. A secret is stored as its SHA-256 only: it has 256 random bits, so a slow hash would add nothing. */
@Injectable()
export class KeyStore {
  constructor(private readonly database: PrismaDatabase) {}

  /** The caller whose secret has this SHA-256, unless the key is revoked or expired. */
  async findByDigest(secretSha256: Uint8Array<ArrayBuffer>): Promise<KeyFound | undefined> {
    const key = await this.database.apiKey.findUnique({
      where: { secretSha256 },
      include: { account: true },
    });
    if (!key || key.revokedAt) return undefined;
    const validForMs = key.expiresAt ? key.expiresAt.getTime() - Date.now() : Number.POSITIVE_INFINITY;
    if (validForMs <= 0) return undefined;
    const caller: Caller = {
      accountId: key.accountId,
      keyId: key.id,
      tier: key.account.tier === 'partner' ? 'partner' : 'standard',
      paid: key.account.paid,
      keyType: key.apiKeyType === 'ADMIN' ? 'ADMIN' : 'INFERENCE',
    };
    return { caller, validForMs };
  }

  /** Makes a key. The secret in the answer is the only copy. */
  async create(accountId: string, { apiKeyType, description }: NewApiKey): Promise<CreatedApiKey> {
    const apiKey = KEY_PREFIX[apiKeyType] + randomBytes(32).toString('base64url');
    const key = { id: randomUUID(), apiKeyType, description };
    const last6Chars = apiKey.slice(-6);
    const secretSha256 = Uint8Array.from(createHash('sha256').update(apiKey).digest());
    await this.database.apiKey.create({ data: { ...key, accountId, secretSha256, last6: last6Chars } });
    return { ...key, apiKey, last6Chars };
  }

  /** The account's oldest key. */
  async first(accountId: string): Promise<{ last6: string; works: boolean } | undefined> {
    const key = await this.database.apiKey.findFirst({ where: { accountId }, orderBy: { createdAt: 'asc' } });
    return key ? { last6: key.last6, works: key.revokedAt === null } : undefined;
  }
}

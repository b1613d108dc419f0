import { Injectable } from '@nestjs/common';
import type { OperatorKeyQuery } from '@svc/api/operator';
import { Database, PrismaDatabase } from '@svc/storage';
import { type StoredKey, readKey } from './key-rows.js';

/** A key as an operator sees it. */
export interface ListedKey {
  readonly key: StoredKey;
  readonly revokedAt: Date | null;
  /** Unknown for keys that earlier releases revoked. */
  readonly revokedBy: string | null;
}

type RevocationRow = Pick<ListedKey, 'revokedAt' | 'revokedBy'>;

/** The keys of all accounts, including expired and revoked ones. */
@Injectable()
export class KeyListStore {
  constructor(
    private readonly prisma: PrismaDatabase,
    private readonly database: Database,
  ) {}

  /** At most `limit`, newest first. */
  async list({ accountId, search, state, limit, before }: OperatorKeyQuery): Promise<ListedKey[]> {
    const found = await this.database.query<{ id: string }>(LIST, [accountId, search, state, before, limit]);
    const rows = await this.prisma.apiKey.findMany({
      where: { id: { in: found.map(({ id }) => id) } },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    });
    return rows.map(listedKey);
  }

  async find(id: string): Promise<ListedKey | undefined> {
    const row = await this.prisma.apiKey.findUnique({ where: { id } });
    return row ? listedKey(row) : undefined;
  }
}

const listedKey = ({ revokedAt, revokedBy, ...row }: RevocationRow): ListedKey => ({
  key: readKey(row),
  revokedAt,
  revokedBy,
});

const LIST = `
  SELECT id FROM gateway.api_keys
  WHERE ($1::uuid IS NULL OR account_id = $1)
    AND ($2::text IS NULL OR starts_with(id::text, lower($2)) OR right(last6, length($2)) = $2
      OR position(lower($2) IN lower(description)) > 0)
    AND ($3::text IS NULL OR $3 = CASE
      WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'active' END)
    AND ($4::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM gateway.api_keys WHERE id = $4))
  ORDER BY created_at DESC, id DESC LIMIT $5`;

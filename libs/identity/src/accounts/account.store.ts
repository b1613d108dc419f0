import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Account, type AccountTermsChange, type AccountQuery, type NewAccount } from '@svc/api/operator';
import { Problem } from '@svc/contracts/problems';
import { accountEvent, keyChanged, newAccountEvent } from '@svc/contracts/messages';
import { walletAccountId, walletName } from '@svc/contracts/ports';
import { type RunStatement, addToOutbox } from '@svc/events';
import { Database, PrismaDatabase } from '@svc/storage';

interface StoredAccount {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  readonly paid: boolean;
  readonly wallet: string | null;
  readonly createdAt: Date;
  readonly suspendedAt: Date | null;
  readonly suspendedReason: string | null;
  readonly fallbackModels: string[];
  readonly fallbackOn: string[];
}

/** The terms of a wallet for which no operator has created an account. */
const WALLET_TERMS = { tier: 'standard', paid: true } as const;

/** Accounts, the payers. Their balances are in the ledger. */
@Injectable()
export class AccountStore {
  constructor(
    private readonly prisma: PrismaDatabase,
    private readonly database: Database,
  ) {}

  async create({ name, tier, paid }: NewAccount, id: string = randomUUID()): Promise<Account> {
    return accountOf(await this.prisma.account.create({ data: { id, name, tier, paid } }));
  }

  /** The account of a wallet; created with these terms unless it exists. */
  async ensure({ name, tier, paid }: NewAccount, address: string): Promise<Account> {
    const wallet = walletName(address);
    const id = walletAccountId(wallet);
    const row = await this.prisma.account.upsert({
      where: { id },
      update: { wallet },
      create: { id, name, tier, paid, wallet },
    });
    return accountOf(row);
  }

  /** The account of a wallet that signs in, with the terms of one that no operator has opened. */
  ofWallet(wallet: string): Promise<Account> {
    return this.ensure({ name: wallet, ...WALLET_TERMS }, wallet);
  }

  /** Finds an account by its id or its wallet's address. Refuses: ACCOUNT_NOT_FOUND. */
  async get(reference: string): Promise<Account> {
    const { id, wallet } = accountNamed(reference);
    const row = await this.prisma.account.findUnique({ where: { id } });
    if (row) return accountOf(row);
    if (wallet === undefined) throw unknownAccount();
    const terms = { name: wallet, ...WALLET_TERMS, wallet, fallbackModels: [], fallbackOn: [] };
    return { id, ...terms, createdAt: null, state: 'active', suspension: null };
  }

  /** The names of accounts, by their ids. */
  async names(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const where = { id: { in: [...ids] } };
    const rows = await this.prisma.account.findMany({ where, select: { id: true, name: true } });
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** At most `limit`, newest first. */
  async list({ search, state, kind, limit, before }: AccountQuery): Promise<Account[]> {
    const walletId = search === undefined ? undefined : walletAccountId(walletName(search));
    const rows = await this.database.query<StoredAccount>(LIST, [
      search,
      walletId,
      state,
      kind,
      before,
      limit,
    ]);
    return rows.map(accountOf);
  }

  /** Changes the terms of an account, and adds an event to the outbox. Refuses: ACCOUNT_NOT_FOUND. */
  async change(reference: string, change: AccountTermsChange): Promise<Account> {
    const { id, wallet } = accountNamed(reference);
    return this.prisma.$transaction(async (transaction) => {
      if (wallet !== undefined) {
        const data = { id, name: wallet, ...WALLET_TERMS, wallet };
        await transaction.account.createMany({ data, skipDuplicates: true });
      }
      const { tier, paid, fallbackModels, fallbackOn } = change;
      const data = {
        ...(tier !== undefined && { tier }),
        ...(paid !== undefined && { paid }),
        ...(fallbackModels !== undefined && { fallbackModels }),
        ...(fallbackOn !== undefined && { fallbackOn }),
      };
      const [row] = await transaction.account.updateManyAndReturn({ where: { id }, data });
      if (!row) throw unknownAccount();
      const run: RunStatement = (sql, values) => transaction.$executeRawUnsafe(sql, ...values);
      await addToOutbox(run, keyChanged, { accountId: id });
      return accountOf(row);
    });
  }

  /**
   * Suspends an account, or replaces the reason, and adds an event to the outbox. Refuses: ACCOUNT_NOT_FOUND.
   */
  async suspend(reference: string, suspendedReason: string): Promise<Account> {
    const { id, wallet } = accountNamed(reference);
    return this.prisma.$transaction(async (transaction) => {
      if (wallet !== undefined) {
        const data = { id, name: wallet, ...WALLET_TERMS, wallet };
        await transaction.account.createMany({ data, skipDuplicates: true });
      }
      // A suspension whose reason is replaced keeps the time at which it began.
      const { count } = await transaction.account.updateMany({
        where: { id, suspendedAt: null },
        data: { suspendedAt: new Date() },
      });
      const data = { suspendedReason };
      const [row] = await transaction.account.updateManyAndReturn({ where: { id }, data });
      if (!row) throw unknownAccount();
      const run: RunStatement = (sql, values) => transaction.$executeRawUnsafe(sql, ...values);
      await addToOutbox(run, keyChanged, { accountId: id });
      const event = newAccountEvent(id, 'account.suspended', { reason: suspendedReason });
      if (count > 0) await addToOutbox(run, accountEvent, event);
      return accountOf(row);
    });
  }

  /** Ends a suspension, if any, and adds an event to the outbox. Refuses: ACCOUNT_NOT_FOUND. */
  async resume(reference: string): Promise<Account> {
    const { id } = accountNamed(reference);
    await this.prisma.$transaction(async (transaction) => {
      const data = { suspendedAt: null, suspendedReason: null };
      const where = { id, suspendedAt: { not: null } };
      const { count } = await transaction.account.updateMany({ where, data });
      if (count === 0) return;
      const run: RunStatement = (sql, values) => transaction.$executeRawUnsafe(sql, ...values);
      await addToOutbox(run, keyChanged, { accountId: id });
      await addToOutbox(run, accountEvent, newAccountEvent(id, 'account.resumed', {}));
    });
    return this.get(reference);
  }

  /** Whether this account exists; without an id, whether any does. */
  async exists(id?: string): Promise<boolean> {
    const row = await this.prisma.account.findFirst({
      ...(id !== undefined && { where: { id } }),
      select: { id: true },
    });
    return row !== null;
  }
}

/** Parses an account's id or a wallet's address; only ids contain dashes. */
function accountNamed(reference: string): { id: string; wallet?: string } {
  if (reference.includes('-')) return { id: reference };
  const wallet = walletName(reference);
  return { id: walletAccountId(wallet), wallet };
}

const LIST = `
  SELECT id, name, tier, paid, wallet, created_at AS "createdAt", suspended_at AS "suspendedAt",
    suspended_reason AS "suspendedReason", fallback_models AS "fallbackModels", fallback_on AS "fallbackOn"
  FROM gateway.accounts
  WHERE ($1::text IS NULL OR starts_with(id::text, lower($1)) OR position(lower($1) IN lower(name)) > 0
      OR id = $2::uuid)
    AND ($3::text IS NULL OR ($3 = 'suspended') = (suspended_at IS NOT NULL))
    AND ($4::text IS NULL OR ($4 = 'wallet') = (wallet IS NOT NULL))
    AND ($5::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM gateway.accounts WHERE id = $5))
  ORDER BY created_at DESC, id DESC LIMIT $6`;

function accountOf({ createdAt, suspendedAt, suspendedReason, ...row }: StoredAccount): Account {
  return Account.parse({
    ...row,
    createdAt: createdAt.toISOString(),
    state: suspendedAt ? 'suspended' : 'active',
    suspension: suspendedAt && { at: suspendedAt.toISOString(), reason: suspendedReason ?? '' },
  });
}

const unknownAccount = (): Problem => new Problem('ACCOUNT_NOT_FOUND', { param: 'id' });

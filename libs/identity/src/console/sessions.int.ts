import { Database, PrismaDatabase, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccountStore } from '../accounts/account.store.js';
import { KeyStore } from '../accounts/key.store.js';
import { SessionStore } from './session.store.js';
import { TicketStore } from './ticket.store.js';

const CLIENT = { network: '192.0.2.1', agent: 'test' };

let test: TestDatabase;
let database: Database;
let prisma: PrismaDatabase;
let sessions: SessionStore;
let keys: KeyStore;
let accountId: string;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'console' }));
  prisma = new PrismaDatabase(database);
  sessions = new SessionStore(prisma, database);
  keys = new KeyStore(prisma, database);
});

beforeEach(async () => {
  const accounts = new AccountStore(prisma, database);
  accountId = (await accounts.create({ name: 'Ann', tier: 'standard', paid: true })).id;
});

afterAll(async () => {
  await prisma.onApplicationShutdown();
  await database.onApplicationShutdown();
  await test.stop();
});

/** Moves the clock of all sessions of the account. */
const later = (minutes: number): Promise<unknown> =>
  database.query(
    `UPDATE gateway.console_sessions SET seen_at = seen_at - $2 * interval '1 minute',
       expires_at = expires_at - $2 * interval '1 minute' WHERE account_id = $1`,
    [accountId, minutes],
  );

describe('a session', () => {
  it('ends after an hour without use', async () => {
    const token = await sessions.begin({ accountId }, CLIENT);
    await later(59);
    expect(await sessions.find(token)).toMatchObject({ kind: 'admin', accountId, ...CLIENT });
    await later(61);
    expect(await sessions.find(token)).toBeUndefined();
  });

  it('ends after twelve hours, however it is used', async () => {
    const token = await sessions.begin({ accountId }, CLIENT);
    for (let hour = 0; hour < 13; hour += 1) {
      await later(55);
      await sessions.find(token);
    }
    expect(await sessions.find(token)).toBeDefined();
    await later(6);
    expect(await sessions.find(token)).toBeUndefined();
  });

  it('is stored as a hash only', async () => {
    const token = await sessions.begin({ accountId }, CLIENT);
    const [row] = await database.query<{ text: string }>(
      `SELECT to_json(session)::text AS text FROM gateway.console_sessions AS session WHERE account_id = $1`,
      [accountId],
    );
    expect(row?.text).not.toContain(token);
    expect(row?.text).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
    expect(token).toMatch(/^[\w-]{43}$/);
  });

  it('has the terms that its key has now, and spends as the key once that is limited', async () => {
    const made = await keys.create(accountId, 'ADMIN', {});
    const keyId = made?.key.id ?? '';
    const token = await sessions.begin({ accountId, keyId }, CLIENT);
    expect((await sessions.find(token))?.caller).toMatchObject({ keyId: `console:${accountId}` });
    await keys.change(accountId, keyId, { usdLimitNano: 5n });
    expect((await sessions.find(token))?.caller).toMatchObject({ keyId, keyLimit: { usdNano: 5n } });
  });

  it('is one of at most a hundred of its account: a further one ends the oldest', async () => {
    const first = await sessions.begin({ accountId }, CLIENT);
    const second = await sessions.begin({ accountId }, CLIENT);
    await database.query(
      `UPDATE gateway.console_sessions SET created_at = created_at - interval '1 minute' WHERE id = $1`,
      [(await sessions.find(first))?.id],
    );
    for (let count = 2; count < 101; count += 1) await sessions.begin({ accountId }, CLIENT);
    expect(await sessions.find(first)).toBeUndefined();
    expect(await sessions.find(second)).toBeDefined();
  });
});

describe('a ticket', () => {
  it('is used once, however many try at the same time', async () => {
    const tickets = new TicketStore(database);
    const secret = await tickets.issue('wallet:w', 60_000);
    const uses = await Promise.all(Array.from({ length: 20 }, () => tickets.use(secret)));
    expect(uses.filter((subject) => subject !== undefined)).toEqual(['wallet:w']);
  });

  it('is over after its time', async () => {
    const tickets = new TicketStore(database);
    expect(await tickets.use(await tickets.issue('wallet:w', 0))).toBeUndefined();
    expect(await tickets.use('unknown')).toBeUndefined();
  });
});

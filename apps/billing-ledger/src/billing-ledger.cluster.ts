import 'reflect-metadata';
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Books, type Hold, Ledger } from '@svc/contracts/ports';
import { EVENTS } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { totalNano } from '@svc/contracts/money';
import { EventsModule, createTopics, kafkaConfig, kafkaConnection } from '@svc/events';
import { type Infra, temporaryInfra } from '@svc/infra';
import { LedgerClientModule, ledgerClientConfig } from '@svc/ledger';
import { chargeOf, requestOf, usd } from '@svc/ledger/testing';
import { LoggerModule, createLogger, loadConfig } from '@svc/runtime';
import { RunningProcess } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const TOKEN = 'internal-token-of-the-tests-of-the-ledger';
const TERMS = { partitions: 6, replicas: 1, minInSyncReplicas: 1, retentionDays: 1 };
const PATIENCE = { timeout: 60_000, interval: 50 };

@Module({})
class Root {}

type Client = Awaited<ReturnType<typeof NestFactory.createApplicationContext>>;

interface LedgerProcess {
  readonly service: RunningProcess;
  readonly url: string;
}

let infra: Infra;
let env: Record<string, string>;
let ledgers: LedgerProcess[];
let clients: Client[];

async function startLedger(port = '0'): Promise<LedgerProcess> {
  const { service, match } = await RunningProcess.start(
    { main: MAIN, env: { ...env, PORT: port } },
    /listening on (http:\S+)/,
  );
  return { service, url: match[1] ?? '' };
}

/** Waits until a ledger reports that it is ready, or that it is not. */
async function untilReady({ url }: LedgerProcess, wanted: boolean): Promise<boolean> {
  while ((await fetch(`${url}/readyz`)).ok !== wanted) await sleep(50);
  return wanted;
}

function startClient(): Promise<Client> {
  const LEDGER_URL = ledgers.map(({ url }) => url).join();
  const config = loadConfig(ledgerClientConfig, { LEDGER_URL, LEDGER_SETTLE_WAIT_MS: '30000' });
  const imports = [
    LoggerModule.of(createLogger('silent')),
    EventsModule.kafka(kafkaConnection(loadConfig(kafkaConfig, env))),
    LedgerClientModule.at({ config, token: TOKEN }),
  ];
  return NestFactory.createApplicationContext({ module: Root, imports }, { logger: false });
}

const ledgerOf = (of: Client): Ledger => of.get(Ledger, { strict: false });
const client = (index = 0): Client => {
  const found = clients[index % clients.length];
  if (!found) throw new Error('no client');
  return found;
};
const books = (): Books => client().get(Books, { strict: false });

async function accountWith(dollars: number): Promise<string> {
  const accountId = randomUUID();
  await vi.waitFor(() => books().credit({ accountId, usdNano: usd(dollars), reference: 'start' }), PATIENCE);
  return accountId;
}

interface Spending {
  readonly accountId: string;
  readonly requests: number;
  /** Maximum number of attempts for a request that is refused, with a pause in between. */
  readonly tries: number;
}

/**
 * Concurrent requests over all clients; each holds, extends its hold and spends most of it. Returns their
 * total cost.
 */
async function spend({ accountId, requests, tries }: Spending): Promise<bigint> {
  let chargedNano = 0n;
  const run = async (index: number): Promise<void> => {
    const ledger = ledgerOf(client(index));
    const hold = await holdAtLast(ledger, accountId, tries);
    if (!hold) return;
    const grown = await ledger
      .extend(hold, { moreNano: BigInt(randomInt(1, 2_000_000)), atLeastNano: 1n })
      .catch(() => hold);
    const cost = { ...grown.amount, usdNano: grown.amount.usdNano - BigInt(randomInt(0, 1_000)) };
    if (index % 10 === 0 || cost.usdNano < 0n) return giveBack(ledger, grown, tries);
    try {
      await ledger.settle(grown, chargeOf(accountId, 0n, { requestId: grown.requestId, cost }));
    } catch (error) {
      // A refused charge is never posted.
      if (error instanceof Problem) return;
      throw error;
    }
    chargedNano += totalNano(cost);
  };
  await Promise.all(Array.from({ length: requests }, (_, index) => run(index)));
  return chargedNano;
}

/** Retries if the ledger can't be reached; otherwise the hold would last until its lease expires. */
async function giveBack(ledger: Ledger, hold: Hold, tries: number): Promise<void> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const isDone = await Promise.resolve(ledger.release(hold)).then(
      () => true,
      () => false,
    );
    if (isDone) return;
    await sleep(randomInt(20, 200));
  }
}

async function holdAtLast(ledger: Ledger, accountId: string, tries: number): Promise<Hold | undefined> {
  const request = { ...requestOf(accountId, BigInt(randomInt(1_000_000, 9_000_000))), atLeastNano: 1_000n };
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    try {
      return await ledger.hold(request);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      await sleep(randomInt(20, 200));
    }
  }
  return undefined;
}

/** The total that an account has paid, and the result of the audit. */
async function paid(accountId: string, dollars: number) {
  const { usdNano } = await vi.waitFor(() => books().balances(accountId), PATIENCE);
  const { ok, mismatches } = await books().audit('whole');
  return { nano: usd(dollars) - usdNano, ok, mismatches };
}

const exactly = (nano: bigint) => ({ nano, ok: true, mismatches: [] });

beforeAll(async () => {
  infra = await temporaryInfra();
  env = { ...(await infra.up()), LEDGER_TOKEN: TOKEN };
  await createTopics(kafkaConnection(loadConfig(kafkaConfig, env)), EVENTS, TERMS);
  ledgers = await Promise.all([startLedger(), startLedger()]);
  clients = await Promise.all([startClient(), startClient(), startClient()]);
  for (const ledger of ledgers) await untilReady(ledger, true);
}, 120_000);

afterAll(async () => {
  for (const client of clients ?? []) await client.close();
  for (const { service } of ledgers ?? []) await service.stop();
  await infra?.wipe();
});

describe('three clients and two ledgers', () => {
  it('charge an account with 1.00 USD and 1,000 concurrent requests at most 1.00 and at least 0.99', async () => {
    const accountId = await accountWith(1);
    const chargedNano = await spend({ accountId, requests: 1_000, tries: 20 });
    expect(chargedNano).toBeLessThanOrEqual(usd(1));
    expect(chargedNano).toBeGreaterThanOrEqual(usd(0.99));
    expect(await paid(accountId, 1)).toEqual(exactly(chargedNano));
  });

  it('lose and double no charge, and leave nothing held, when a ledger is killed under load', async () => {
    const accountId = await accountWith(100);
    const spending = spend({ accountId, requests: 3_000, tries: 100 });
    await sleep(200);
    const [first] = ledgers;
    first?.service.signal('SIGKILL');
    await first?.service.ended();
    ledgers[0] = await startLedger(new URL(first?.url ?? '').port);
    const chargedNano = await spending;
    expect(await paid(accountId, 100)).toEqual(exactly(chargedNano));
    const left = async (): Promise<bigint> => (await ledgerOf(client()).available(accountId)).usdNano;
    await vi.waitFor(async () => expect(await left()).toBe(usd(100) - chargedNano), PATIENCE);
  });

  it('lose and double no charge when Redis loses its data under load', async () => {
    const accountId = await accountWith(100);
    const spending = spend({ accountId, requests: 3_000, tries: 100 });
    await sleep(200);
    await infra.redis.kill();
    await infra.redis.start();
    const chargedNano = await spending;
    expect(await paid(accountId, 100)).toEqual(exactly(chargedNano));
  });

  it('are not ready without Redis', async () => {
    await infra.redis.kill();
    const ready = (wanted: boolean) => Promise.all(ledgers.map((ledger) => untilReady(ledger, wanted)));
    expect(await ready(false)).toEqual([false, false]);
    await infra.redis.start();
    expect(await ready(true)).toEqual([true, true]);
  });
});

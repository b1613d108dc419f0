import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { kafkaConfig, kafkaConnection } from '@svc/events';
import { findPostgresTools } from '@svc/infra';
import { loadConfig } from '@svc/runtime';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../database-server.js';
import type { TestAccount } from '../deployment.js';
import { ClusterDeployment } from './cluster-deployment.js';

const run = promisify(execFile);
const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/operations.md'), 'utf8');
const GROUP = 'ledger.usage.recorded.v1';
const TOPIC = 'usage.recorded.v1';
const DAY_MS = 86_400_000;

/** The numbered steps of the page, by their bold first words. */
function stepsOfPage(): string[] {
  const section = PAGE.split('\n## ').find((each) => each.startsWith('Restore to a moment')) ?? '';
  return Array.from(section.matchAll(/^\d+\. \*\*(.+?)\*\*/gm), ([, title = '']) => title);
}

let platform: ClusterDeployment;
let dumpFile: string;
/** Accounts that were opened before the dump. */
let accounts: { spender: TestAccount; refunded: TestAccount; staker: TestAccount; quiet: TestAccount };
/** The operator's own records of money, in their original order. */
const received: { accountId: string; path: string; body: { reference?: string } & object }[] = [];
let refundUsd = '';
let moment: Date;

/** Performs an operation and records it, as the operator's own records do. */
async function receive(accountId: string, path: string, body: object): Promise<Record<string, unknown>> {
  received.push({ accountId, path, body });
  return give(accountId, path, body);
}

async function give(accountId: string, path: string, body: object): Promise<Record<string, unknown>> {
  const method = path === 'stake' ? 'PUT' : 'POST';
  const answer = await platform.operator(method, `/accounts/${accountId}/${path}`, body);
  return { ...answer.body, status: answer.status };
}

const ask = ({ apiKey }: TestAccount, content = 'hi'): Promise<Response> =>
  platform.chat(apiKey, { model: 'test-model', messages: [{ role: 'user', content }] });

/** Costs about 0.003 USD. */
const LONG = 'word '.repeat(20_000);

/** Sends requests one after the other; returns their ids. */
async function askTimes(account: TestAccount, count: number, content?: string): Promise<string[]> {
  const requestIds: string[] = [];
  while (requestIds.length < count) {
    const response = await ask(account, content);
    expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 200 });
    requestIds.push(response.headers.get('x-request-id') ?? '');
  }
  return requestIds;
}

const serverOf = (name: string): string => platform.servers[name] ?? '';

async function balancesOfAll(): Promise<Record<string, { usd: string; diem: string }>> {
  const found = Object.entries(accounts).map(
    async ([name, { id }]) => [name, await platform.balances(id)] as const,
  );
  return Object.fromEntries(await Promise.all(found));
}

/** Equivalent to `kafka-consumer-groups.sh --reset-offsets --to-datetime`. */
async function resetOffsets(to: Date): Promise<void> {
  const connection = kafkaConnection(loadConfig(kafkaConfig, platform.servers));
  const brokers = [...connection.brokers];
  const kafka = new Kafka({ ...connection, brokers, logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  try {
    const partitions = await admin.fetchTopicOffsetsByTimestamp(TOPIC, to.getTime());
    await admin.setOffsets({ groupId: GROUP, topic: TOPIC, partitions });
  } finally {
    await admin.disconnect();
  }
}

/** The operator's actions in each step of the page. */
const STEPS: Record<string, () => Promise<void>> = {
  Stop: () => platform.stopProcesses(),
  'Restore PostgreSQL': async () => {
    const url = serverOf('DATABASE_URL');
    const { restore } = await findPostgresTools(process.env);
    const name = new URL(url).pathname.slice(1);
    const other = Object.assign(new URL(url), { pathname: '/template1' }).href;
    await withClient(other, async (client) => {
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${name}`);
    });
    await run(restore, ['--exit-on-error', '--no-owner', `--dbname=${url}`, dumpFile]);
  },
  'Empty Redis': async () => {
    const redis = new Redis(serverOf('REDIS_URL'));
    await redis.flushall();
    redis.disconnect();
  },
  'Start with posting off': async () => {
    await platform.startProcesses({ LEDGER_POSTING: 'off' });
    expect((await ask(accounts.quiet)).status).toBe(503);
  },
  'Add the money again': async () => {
    for (const { accountId, path, body } of received) {
      const { status, code } = await give(accountId, path, body);
      if (path !== 'refunds' || code !== 'CHARGE_NOT_FOUND') {
        expect(status).toBeLessThan(300);
        continue;
      }
      const credit = { usd: refundUsd, reference: body.reference };
      expect(await give(accountId, 'credits', credit)).toMatchObject({ status: 201 });
    }
  },
  'Post the charges': async () => {
    await resetOffsets(new Date(moment.getTime() - 60_000));
    await platform.stopProcesses();
    await platform.startProcesses({});
  },
  'Prove the books': async () => {
    const { body } = await platform.audit();
    expect(body).toMatchObject({ ok: true, mismatches: [] });
    const unpaid = await withClient(serverOf('DATABASE_URL'), (client) =>
      client.query('SELECT FROM ledger.charges WHERE write_off_nano > 0'),
    );
    expect(unpaid.rowCount).toBe(0);
  },
};

describe('a cluster that is restored from a dump as the page describes', () => {
  beforeAll(async () => {
    // DIEM of an earlier day can't be recovered.
    if (DAY_MS - (Date.now() % DAY_MS) < 180_000) await sleep(181_000);
    platform = await ClusterDeployment.start({ gateway: 1, router: 1, ledger: 1, limiter: 1 });
  }, 400_000);
  afterAll(() => platform.stop());

  it('has every balance to the nano-dollar, and works', async () => {
    const [spender, refunded] = [await platform.account('0.006'), await platform.account('0.006')];
    accounts = { spender, refunded, staker: await platform.account('0'), quiet: await platform.account() };
    const [early = ''] = await askTimes(refunded, 1, LONG);
    await askTimes(spender, 1, LONG);
    await askTimes(accounts.quiet, 2);
    expect((await platform.audit()).body).toMatchObject({ ok: true });

    dumpFile = join(platform.folder, 'nightly.dump');
    moment = new Date();
    const { dump } = await findPostgresTools(process.env);
    await run(dump, ['--format=custom', `--file=${dumpFile}`, serverOf('DATABASE_URL')]);

    // Each of three has now spent more than it had at the time of the dump.
    await receive(spender.id, 'credits', { usd: '1.00', reference: 'invoice-2' });
    await askTimes(spender, 3, LONG);
    await receive(accounts.staker.id, 'stake', { tokens: '0.5' });
    await askTimes(accounts.staker, 2, LONG);
    await receive(refunded.id, 'refunds', { requestId: early, reference: 'complaint-1' });
    const [late = ''] = await askTimes(refunded, 1, LONG);
    const refund = await receive(refunded.id, 'refunds', { requestId: late, reference: 'complaint-2' });
    refundUsd = (refund['data'] as { amount: string }[])[0]?.amount ?? '';
    await askTimes(refunded, 1, LONG);
    await askTimes(accounts.quiet, 3);
    const balances = await balancesOfAll();

    const steps = stepsOfPage();
    expect(steps).toEqual(Object.keys(STEPS));
    for (const step of steps) await STEPS[step]?.();

    expect(await balancesOfAll()).toEqual(balances);
    for (const account of Object.values(accounts)) await askTimes(account, 1);
    expect((await platform.audit()).body).toMatchObject({ ok: true, mismatches: [] });
  }, 400_000);
});

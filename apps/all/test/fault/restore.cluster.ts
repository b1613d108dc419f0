import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { kafkaConfig, kafkaConnection } from '@svc/events';
import { LocalChain, findPostgresTools } from '@svc/infra';
import { loadConfig } from '@svc/runtime';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, buyer, pay, paymentOf, sellerOn, topUpUrl } from '../buyers.js';
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
let accounts: Record<'spender' | 'refunded' | 'staker' | 'quiet' | 'maker' | 'mixed', TestAccount>;
/** The operator's own records of money, in their original order. */
const received: { accountId: string; path: string; body: { reference?: string } & object }[] = [];
let refundUsd = '';
let moment: Date;
let chain: LocalChain;
/** A wallet that pays after the dump, and the account that its payments credit. */
let payer: Buyer;
let payerId = '';
/** The requests of jobs that were ordered after the dump and did not fail. */
const lostJobs: string[] = [];

const JOB_PRICE = 0.2;
/** Models whose jobs are done at once, fail, or go on for longer than the test. */
const MODELS = { done: 'delay-ms=0', fails: 'delay-ms=0;fault=failed', endless: 'delay-ms=600000' };

const video =
  ([id, settings]: readonly [string, string]) =>
  (url: string) => ({
    id,
    name: id,
    type: 'video',
    tier: 'XS',
    constraints: { durations: ['5s'], resolutions: ['720p'], aspectRatios: ['16:9'] },
    pricing: { perSecond: { '720p': JOB_PRICE / 5 } },
    backends: [{ url: `${url}/v1`, model: `clip;${settings}` }],
  });

/** Orders a video. Returns its job and its request. */
async function order({ apiKey }: TestAccount, model: string): Promise<{ id: string; requestId: string }> {
  const response = await fetch(`${platform.apiUrl}/video/queue`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({
      model,
      prompt: 'A cat',
      duration: '5s',
      aspect_ratio: '16:9',
      resolution: '720p',
    }),
  });
  const body = (await response.json()) as { queue_id: string };
  expect({ status: response.status, body }).toMatchObject({ status: 200 });
  const [row] = await rowsOf<{ request_id: string }>('SELECT request_id FROM media.jobs WHERE id = $1', [
    body.queue_id,
  ]);
  return { id: body.queue_id, requestId: row?.request_id ?? '' };
}

const rowsOf = <Row extends object>(sql: string, values: readonly string[]): Promise<Row[]> =>
  withClient(
    serverOf('DATABASE_URL'),
    async (client) => (await client.query(sql, [...values])).rows as Row[],
  );

/** Waits until a job has ended, and is refunded if it failed. */
const ended = (id: string, state: string): Promise<void> =>
  expect
    .poll(() => rowsOf('SELECT state, refund FROM media.jobs WHERE id = $1', [id]), { timeout: 60_000 })
    .toEqual([{ state, refund: state === 'failed' ? 'done' : null }]);

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
    await expect
      .poll(async () => (await platform.operator('GET', '/payments/totals')).body['data'], {
        timeout: 60_000,
      })
      .toEqual([]);
    const { unclaimed } = (await platform.operator('GET', '/payments/audit')).body as { unclaimed: string[] };
    expect(unclaimed).toHaveLength(1);
    const [transaction = ''] = /0x[0-9a-f]{64}/.exec(unclaimed[0] ?? '') ?? [];
    const opened = await platform.operator('POST', '/accounts', {
      name: 'a wallet',
      wallet: payer.wallet.address,
    });
    expect(opened.body).toMatchObject({ id: payerId });
    expect(await give(payerId, 'credits', { usd: '5.00', reference: transaction })).toMatchObject({
      status: 201,
    });
  },
  'Post the charges': async () => {
    await resetOffsets(new Date(moment.getTime() - 60_000));
    await platform.stopProcesses();
    await platform.startProcesses({});
  },
  'Refund lost jobs': async () => {
    const [, query = ''] = /psql "\$DATABASE_URL" -c "(SELECT account_id, request_id.+)"$/m.exec(PAGE) ?? [];
    const since = moment.toISOString();
    // A read of the books waits for all charges before it.
    await balancesOfAll();
    const lost = await rowsOf<{ account_id: string; request_id: string }>(
      query.replace('2026-11-20T23:55:00Z', since),
      [],
    );
    expect(lost.map(({ request_id: id }) => id).toSorted()).toEqual(lostJobs.toSorted());
    const { body } = await platform.audit();
    expect(body).toMatchObject({ ok: false });
    expect(body['mismatches']).toHaveLength(lostJobs.length);
    for (const { account_id: accountId, request_id: requestId } of lost)
      expect(
        await give(accountId, 'refunds', { requestId, reference: `lost job ${requestId}` }),
      ).toMatchObject({ status: 201 });
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

/** The account of the wallet that pays. */
async function walletAccount(): Promise<string> {
  const { body } = await platform.operator('GET', `/payments?wallet=${payer.wallet.address}`);
  const [payment] = body['data'] as { accountId: string }[];
  return payment?.accountId ?? '';
}

const sumOf = (balances: { usd: string; diem: string } | undefined): number =>
  Number(balances?.usd) + Number(balances?.diem);

describe('a cluster that is restored from a dump as the page describes', () => {
  beforeAll(async () => {
    // DIEM of an earlier day can't be recovered.
    if (DAY_MS - (Date.now() % DAY_MS) < 180_000) await sleep(181_000);
    chain = await LocalChain.start();
    const { env } = await sellerOn(chain);
    const models = Object.entries(MODELS).map(video);
    platform = await ClusterDeployment.start({ gateway: 1, router: 1, ledger: 1, limiter: 1 }, env, {
      models,
    });
  }, 400_000);
  afterAll(async () => {
    await platform?.stop();
    await chain?.stop();
  });

  it('has every balance to the nano-dollar, and works', async () => {
    const [spender, refunded] = [await platform.account('0.006'), await platform.account('0.006')];
    const [maker, mixed] = [await platform.account('100'), await platform.account('100')];
    const [staker, quiet] = [await platform.account('0'), await platform.account()];
    accounts = { spender, refunded, maker, mixed, staker, quiet };
    payer = await buyer(chain, 10);
    const earlyJob = await order(maker, 'endless');
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
    const failing = [await order(maker, 'fails'), await order(maker, 'fails')];
    for (const { id } of failing) await ended(id, 'failed');
    const made = await order(maker, 'done');
    await ended(made.id, 'completed');
    const underWay = await order(maker, 'endless');
    lostJobs.push(made.requestId, underWay.requestId);
    // The operator restores a smaller stake, so part of its charge must be paid in USD.
    await give(mixed.id, 'stake', { tokens: '1' });
    await askTimes(mixed, 2, LONG);
    const spent = 101 - sumOf(await platform.balances(mixed.id));
    expect((await pay(platform, await paymentOf(payer, topUpUrl(platform)))).status).toBe(200);
    payerId = await walletAccount();
    await expect.poll(async () => (await platform.audit()).body).toMatchObject({ ok: true });
    const balances = await balancesOfAll();

    const steps = stepsOfPage();
    expect(steps).toEqual(Object.keys(STEPS));
    for (const step of steps) await STEPS[step]?.();

    const { mixed: mixedNow, maker: makerNow, ...restored } = await balancesOfAll();
    const { mixed: _, maker: makerBefore, ...before } = balances;
    expect(restored).toEqual(before);
    // Both lost jobs are refunded, whether they were made or not.
    expect(sumOf(makerNow)).toBeCloseTo(sumOf(makerBefore) + 2 * JOB_PRICE, 9);
    expect(sumOf(mixedNow)).toBeCloseTo(100 - spent, 9);
    expect(Number((await platform.balances(payer.wallet.address)).usd)).toBe(5);
    expect((await rowsOf<{ id: string }>('SELECT id FROM media.jobs', [])).map(({ id }) => id)).toEqual([
      earlyJob.id,
    ]);
    for (const account of Object.values(accounts)) await askTimes(account, 1);
    expect((await platform.audit()).body).toMatchObject({ ok: true, mismatches: [] });
  }, 400_000);
});

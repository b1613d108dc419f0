import { setTimeout as sleep } from 'node:timers/promises';
import { LocalChain } from '@svc/infra';
import { startTestDatabase } from '@svc/storage/testing';
import { isLong, repeats } from '@svc/testing';
import { Client } from 'pg';
import { type TestContext, describe, expect, it } from 'vitest';
import { type Buyer, balanceOf, buyer, pay, paymentOf, sellerOn, topUpUrl } from '../buyers.js';
import { ownPlatform } from '../own-platform.js';
import type { Platform } from '../platform.js';
import { Random } from '../random.js';
import { RpcProxy } from '../rpc-proxy.js';

const PAYMENTS = repeats('LATE_NODE_PAYMENTS');

/** Wallets that pay concurrently, each one payment after the other. */
const BUYERS = 12;

const USD = 5;

/** This share of calls is delayed, and this share of responses, by up to this time. */
const LATE = { share: 0.25, mostMs: 1_200 };

const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

/** A platform whose node is slow, and its dependencies. */
interface Harness {
  readonly platform: Platform;
  readonly chain: LocalChain;
  readonly payTo: string;
  readonly databaseUrl: string;
}

type Finished = TestContext['onTestFinished'];

/** Starts one on a chain with this block interval, and stops it after the test. */
async function start(blockSeconds: number, finished: Finished): Promise<Harness> {
  const database = await startTestDatabase();
  finished(() => database.stop());
  const chain = await LocalChain.start({ blockSeconds });
  finished(() => chain.stop());
  const proxy = await RpcProxy.start(chain.url);
  finished(() => proxy.stop());
  const { address: payTo, env } = await sellerOn(chain, proxy);
  const platform = await ownPlatform({ env: { ...env, DATABASE_URL: database.url } }, finished);
  const random = new Random(SEED);
  proxy.lateMs = () => (random.chance(LATE.share) ? random.between(1, LATE.mostMs) : 0);
  return { platform, chain, payTo, databaseUrl: database.url };
}

interface Audit {
  readonly ok: boolean;
  readonly mismatches: readonly string[];
  readonly rails: readonly Record<string, unknown>[];
}

const auditOf = async (platform: Platform): Promise<Audit> =>
  (await platform.operator('GET', '/payments/audit?scope=whole')).body as unknown as Audit;

/**
 * Sends one header until it is credited, as the 409 requires. Returns whether it was: an authorization that
 * expires while the node is late has moved nothing.
 */
async function isCredited(platform: Platform, header: string): Promise<boolean> {
  for (;;) {
    const response = await pay(platform, header);
    const text = await response.text();
    if (response.status === 200) return true;
    if (response.status === 402 && text.includes('the authorization has expired')) return false;
    if (response.status !== 409 && response.status !== 503) throw new Error(`${response.status}: ${text}`);
    await sleep(1_000);
  }
}

async function payOften(platform: Platform, one: Buyer, times: number): Promise<void> {
  for (let paid = 0; paid < times;)
    if (await isCredited(platform, await paymentOf(one, topUpUrl(platform, USD)))) paid += 1;
}

/** Removes one credit from the books. Returns the payment that it was for. */
async function removeOneCredit(databaseUrl: string): Promise<string> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // The books are append-only for everyone else.
    await client.query('SET session_replication_role = replica');
    const { rows } = await client.query<{ id: string }>('SELECT id FROM payments.payments LIMIT 1');
    const id = rows[0]?.id ?? '';
    for (const table of ['transfers', 'transfer_references'])
      await client.query(`DELETE FROM ledger.${table} WHERE reference = $1`, [id]);
    return id;
  } finally {
    await client.end();
  }
}

// Concurrent, since payments mostly wait for blocks and for the node.
describe.concurrent(`a node with random delays (seed ${SEED})`, () => {
  it.for([
    { payments: PAYMENTS, blockSeconds: 0.1 },
    { payments: isLong ? PAYMENTS / 10 : PAYMENTS, blockSeconds: 1 },
  ])(
    'credits each of $payments payments, and the audit equals the chain and names a credit that is removed (blocks every $blockSeconds s)',
    { timeout: 120_000 + PAYMENTS * 10_000 },
    async ({ payments, blockSeconds }, { onTestFinished }) => {
      const { platform, chain, payTo, databaseUrl } = await start(blockSeconds, onTestFinished);
      const usd = payments * USD;
      const buyers = await Promise.all(Array.from({ length: BUYERS }, () => buyer(chain, usd)));
      const counts = buyers.map((_, at) => Math.floor((payments + at) / BUYERS));
      await Promise.all(buyers.map((one, at) => payOften(platform, one, counts[at] ?? 0)));
      expect(await Promise.all(buyers.map((one) => balanceOf(platform, one)))).toEqual(
        counts.map((count) => count * USD),
      );
      expect(await chain.balanceOf(payTo)).toBe(BigInt(usd) * 1_000_000n);
      expect(await platform.log()).not.toContain('the state of a payment on the chain is unknown');
      const all = `${usd}.00`;
      expect(await auditOf(platform)).toMatchObject({
        ok: true,
        mismatches: [],
        rails: [{ payments, creditedUsd: all, onChainUsd: all, booksUsd: all, unclaimed: 0 }],
      });
      const id = await removeOneCredit(databaseUrl);
      expect(await auditOf(platform)).toMatchObject({ ok: false, mismatches: [expect.stringContaining(id)] });
    },
  );
});

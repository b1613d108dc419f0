import { randomInt } from 'node:crypto';
import { kinds } from '@svc/cluster';
import { migrate } from '@svc/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClusterDeployment } from '../fault/cluster-deployment.js';
import { Load } from '../fault/load.js';
import { type Payer, faultsLeft, openPayers } from '../payers.js';
import { Random } from '../random.js';
import { eventually } from '../response-bodies.js';
import { BUILD_MS, lastRelease } from './last-release.js';

const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const REPLICAS = { gateway: 2, router: 2, ledger: 2, limiter: 2, retrieval: 1, payments: 1, media: 1 };
const CLIENTS = 6;
const MONEY_CODES = new Set(['INSUFFICIENT_BALANCE', 'API_KEY_USD_SPEND_LIMIT_EXCEEDED']);
/** Requests on connections that are being closed, as always in HTTP. */
const LOST_SHARE = 0.02;
/** Every process is replaced once, and each has to serve before the next one. */
const ROLL = { timeout: 15 * 60_000 };

let platform: ClusterDeployment;
let payers: [Payer, ...Payer[]];
let last: string;
let loads = 0;

beforeAll(async () => {
  last = await lastRelease();
  platform = await ClusterDeployment.start(
    REPLICAS,
    // The last release has one token for all services, which the current one accepts as well.
    { SVC_INTERNAL_TOKEN: 'internal-token-of-the-tests-of-upgrades' },
    { checkout: last },
  );
  payers = await openPayers(platform);
  await Promise.all(payers.map(({ reconciliation }) => reconciliation.askAgain()));
}, BUILD_MS + 300_000);

afterAll(() => platform?.stop(), 120_000);

const seen = (): number => payers.reduce((sum, { reconciliation }) => sum + reconciliation.ended.size, 0);

const served = async (): Promise<void> => {
  const before = seen();
  await eventually('requests are served', () => seen() > before + 2 * CLIENTS);
};

/** Acts under load, and checks what clients saw and what the books contain. */
async function faultsDuring(act: () => Promise<void>): Promise<string[]> {
  const name = `upgrade-${(loads += 1)}`;
  const load = new Load(platform, payers, { random: new Random(SEED + loads), clients: CLIENTS, name });
  const before = seen();
  try {
    await served();
    await act();
    await served();
  } finally {
    await load.end();
  }
  const faults = load.hung.map((kind) => `a ${kind} hung`);
  for (const [code, times] of load.refusals) {
    const most = code === 'none' ? (seen() - before) * LOST_SHARE : 0;
    if (!MONEY_CODES.has(code) && times > most) faults.push(`${times} times ${code}`);
  }
  return [...faults, ...platform.takeEnds(), ...(await faultsLeft(platform, payers))];
}

/** Replaces one process after another; both releases serve together in between. */
async function roll(checkout?: string): Promise<void> {
  for (const kind of kinds) {
    for (const service of platform.cluster.replicas(kind)) {
      await platform.cluster.replace(service, checkout);
      await served();
    }
  }
}

describe(`a cluster of the last release under load, each of whose responses is charged once and to the nano-dollar (SEED=${SEED})`, () => {
  it('serves while the tables are migrated', ROLL, async () => {
    expect(
      await faultsDuring(async () => void (await migrate(platform.servers['DATABASE_URL'] ?? ''))),
    ).toEqual([]);
  });

  it('becomes the current one, process by process, without a failed request', ROLL, async () => {
    expect(await faultsDuring(() => roll())).toEqual([]);
  });

  it('is rolled back, process by process, on the newer tables, without a failed request', ROLL, async () => {
    expect(await faultsDuring(() => roll(last))).toEqual([]);
  });

  it('becomes the current one again', ROLL, async () => {
    expect(await faultsDuring(() => roll())).toEqual([]);
  });
});

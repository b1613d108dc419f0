// How well the router chooses among eight model servers, beside other rules: on a simulated clock, and with
// simulators in real time. `npm run bench:router`; ROUTING_SECONDS is the length of each run in real time.
import { setTimeout as sleep } from 'node:timers/promises';
import { Backend } from '@svc/contracts/catalog';
import { createLogger } from '@svc/runtime';
import { type Simulator, startSimulator } from '@svc/simulator';
import { expect, it } from 'vitest';
import { BackendCalls } from '../src/backend-calls.js';
import { BackendPool } from '../src/backend-pool.js';
import { promptTokensIn } from '../src/choice/reported-tokens.js';
import { jsonHeaders } from '../src/planned-request.js';
import { costPolicy, fixedPolicy, keyPolicy, randomPolicy, routerPolicy, turnPolicy } from './policies.js';
import { type Arrival, type Policy, ReplayedServer, arrivalsOf, replay } from './replay.js';

const SERVERS = 8;
const SECONDS = Number(process.env['ROUTING_SECONDS'] ?? 60);

type PolicyOf = (servers: readonly ReplayedServer[], arrivals: readonly Arrival[]) => Policy;

const POLICIES: Readonly<Record<string, PolicyOf>> = {
  'at random': randomPolicy,
  'in turn': turnPolicy,
  'by a hash of the account': keyPolicy,
  'least expected time, all known': costPolicy,
  'best fixed places, afterwards': fixedPolicy,
  'the router': routerPolicy,
};

const LOADS = [
  { load: '8/s', perSecond: 8, hotShare: 0 },
  { load: '24/s, half', perSecond: 24, hotShare: 0 },
  { load: '40/s, nine tenths', perSecond: 40, hotShare: 0 },
  { load: '24/s, one account 40 %', perSecond: 24, hotShare: 0.4 },
];

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

it.each(LOADS)('on a simulated clock: $load', ({ load, perSecond, hotShare }) => {
  const workloads = [1, 2, 3].map((seed) => arrivalsOf({ seed, perSecond, hotShare, seconds: 120 }));
  const rows = Object.entries(POLICIES).map(([name, policyOf]) => {
    const runs = workloads.map((arrivals) => {
      const servers = Array.from({ length: SERVERS }, () => new ReplayedServer());
      return replay(arrivals, servers, policyOf(servers, arrivals));
    });
    const firstToken = (share: number): string =>
      Math.round(median(runs.map((run) => run.firstTokenMs(share)))).toLocaleString('en');
    return {
      rule: name,
      cached: median(runs.map(({ hitShare }) => hitShare)).toFixed(2),
      'first token p50/p90/p99 ms': [0.5, 0.9, 0.99].map(firstToken).join(' / '),
      'over twice its share, s': (median(runs.map(({ longestOverMs }) => longestOverMs)) / 1_000).toFixed(1),
    };
  });
  console.log(load);
  console.table(rows);
  expect(rows).toHaveLength(Object.keys(POLICIES).length);
});

/** In real time, of which only a part is prefill and output, so that the simulators have time to respond. */
const SIMULATED = {
  prefillUsPerToken: 83,
  serialPrefill: true,
  cacheBlocks: Math.floor(120_000 / 64),
  itlMs: 150,
  batchKnee: 24,
  outputTokens: 16,
};

interface RealRun {
  readonly cached: number;
  readonly all: number;
  readonly firstMs: readonly number[];
}

async function realRun(arrivals: readonly Arrival[], at?: (arrival: Arrival) => number): Promise<RealRun> {
  const simulators: Simulator[] = [];
  for (let each = 0; each < SERVERS; each += 1) simulators.push(await startSimulator(SIMULATED));
  const pool = new BackendPool(5_000, undefined);
  const calls = new BackendCalls(pool, {
    ROUTER_QUEUE_TIMEOUT_MS: 60_000,
    ROUTER_COOL_DOWN_MS: 5_000,
    ROUTER_ATTEMPT_TIMEOUT_MS: 60_000,
    secret: () => undefined,
    log: createLogger('silent'),
  });
  const backends = simulators.map(({ url }, number) =>
    Backend.parse({ name: `server-${number}`, url: `${url}/v1`, model: 'm' }),
  );
  const firstMs: number[] = [];
  const counted = { all: 0, cached: 0 };
  const one = async (arrival: Arrival): Promise<void> => {
    const only = at?.(arrival);
    const startMs = performance.now();
    const call = {
      requestId: crypto.randomUUID(),
      accountId: `account ${arrival.account}`,
      cacheKey: `account ${arrival.account}`,
      model: 'm',
      body: arrival.body,
      backends,
    };
    const { exchange } = await calls.first(call, new AbortController().signal, {
      deadlineMs: 120_000,
      pauseMs: 60_000,
      isStream: true,
      ...(only !== undefined && {
        order: (able) => Promise.resolve(able.filter(({ live }) => live.name === `server-${only}`)),
      }),
      at: () => ({
        headers: jsonHeaders,
        request: () => ({ path: '/chat/completions', body: withModel(arrival.body) }),
        take: async (taken) => {
          await taken.read();
          if (arrival.atMs > (SECONDS * 1_000) / 3) firstMs.push(performance.now() - startMs);
          return { exchange: taken };
        },
      }),
    });
    while ((await exchange.read()).length > 0);
    const tokens = promptTokensIn(exchange.end);
    counted.all += tokens?.all ?? 0;
    counted.cached += tokens?.cached ?? 0;
  };
  const startMs = performance.now();
  const running: Promise<void>[] = [];
  for (const arrival of arrivals) {
    await sleep(Math.max(0, startMs + arrival.atMs - performance.now()));
    running.push(one(arrival));
  }
  await Promise.all(running);
  await pool.close();
  for (const simulator of simulators) await simulator.close();
  return { ...counted, firstMs };
}

function withModel(body: readonly Uint8Array[]): Uint8Array[] {
  const text = Buffer.concat(body).toString();
  return [Buffer.from(`{"model":"m","stream_options":{"include_usage":true},${text.slice(1)}`)];
}

it('in real time, with simulators', async () => {
  const arrivals = arrivalsOf({ seed: 1, perSecond: 16, hotShare: 0, seconds: SECONDS });
  const servers = Array.from({ length: SERVERS }, () => new ReplayedServer());
  const rows: object[] = [];
  for (const [rule, at] of [
    ['at random', randomPolicy(servers).choose],
    ['by a hash of the account', keyPolicy(servers).choose],
    ['best fixed places, afterwards', fixedPolicy(servers, arrivals).choose],
    ['the router', undefined],
  ] as const) {
    const cpu = process.cpuUsage();
    const { all, cached, firstMs } = await realRun(arrivals, at);
    const { user, system } = process.cpuUsage(cpu);
    const times = firstMs.toSorted((a, b) => a - b);
    const ms = (share: number): number => Math.round(times[Math.floor(share * times.length)] ?? 0);
    rows.push({
      rule,
      cached: (cached / all).toFixed(2),
      'first token p50/p90/p99 ms': `${ms(0.5)} / ${ms(0.9)} / ${ms(0.99)}`,
      'CPU of all, s': ((user + system) / 1e6).toFixed(0),
    });
  }
  console.log(`16/s for ${SECONDS} s in real time`);
  console.table(rows);
  expect(rows).toHaveLength(4);
});

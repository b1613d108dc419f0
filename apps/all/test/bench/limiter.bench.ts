// The cost of `admit` and `settle` for one request: in memory, and on Redis, compared with a plain INCR in
// the same run.
// After a build: node apps/all/test/bench/limiter.bench.ts
import { setTimeout as sleep } from 'node:timers/promises';
import { type AdmitRequest, type Limiter, perMinute } from '@svc/contracts/ports';
import { temporaryInfra } from '@svc/infra';
import { MemoryLimiter, RedisLimiter, STANDARD_TIMES } from '@svc/limiter';
import { connectRedis } from '@svc/storage';

const ACCOUNTS = 1_000;
const AT_ONCE = 64;
const MEMORY_REQUESTS = 200_000;
const REDIS_REQUESTS = 12_000;
const ROUNDS = 3;

/** No limit is ever reached, so each request takes the full path. */
const AMPLE = { requestsPerMinute: 1e9, tokensPerMinute: 1e12 };
const USER = perMinute('user', AMPLE);
const CASES = {
  'one window': { limits: USER },
  'three windows, at once': {
    limits: [...USER, ...perMinute('api_key', AMPLE), ...perMinute('global', AMPLE)],
    concurrent: 1e6,
  },
};

interface Row {
  readonly name: string;
  readonly cpuMicros: number;
  readonly serverMicros?: number;
  readonly roundTrips?: number;
  readonly p50Micros?: number;
  readonly p99Micros?: number;
  readonly perSecond: number;
}

interface Work {
  readonly name: string;
  readonly requests: number;
  readonly atOnce: number;
  /** The measured work, for request number `index`. */
  readonly one: (index: number) => Promise<unknown>;
}

type Redis = ReturnType<typeof connectRedis>;

/** Runs the work repeatedly and returns the round with the median CPU time. */
async function measure(work: Work, redis?: Redis): Promise<Row> {
  const rows: Row[] = [];
  // The first round is the warm-up.
  for (let round = 0; round <= ROUNDS; round += 1) rows.push(await measureOnce(work, redis));
  const sorted = rows.slice(1).toSorted((a, b) => a.cpuMicros - b.cpuMicros);
  const median = sorted[Math.floor(sorted.length / 2)];
  if (!median) throw new Error('there are rounds');
  return median;
}

async function measureOnce({ name, requests, atOnce, one }: Work, redis: Redis | undefined): Promise<Row> {
  const took: number[] = [];
  const isTimed = redis !== undefined;
  const serverBefore = redis && (await serverOf(redis));
  let index = 0;
  const caller = async (): Promise<void> => {
    while (index < requests) {
      const startMs = isTimed ? performance.now() : 0;
      await one((index += 1));
      if (isTimed) took.push((performance.now() - startMs) * 1_000);
    }
  };
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  await Promise.all(Array.from({ length: atOnce }, caller));
  const seconds = (performance.now() - startMs) / 1_000;
  const cpu = process.cpuUsage(cpuBefore);
  const row = { name, cpuMicros: (cpu.user + cpu.system) / requests, perSecond: requests / seconds };
  if (!redis || !serverBefore) return row;
  const server = await serverOf(redis);
  took.sort((a, b) => a - b);
  return {
    ...row,
    serverMicros: (server.cpuMicros - serverBefore.cpuMicros) / requests,
    roundTrips: Math.round(((server.reads - serverBefore.reads) / requests) * 100) / 100,
    p50Micros: took[Math.floor(took.length * 0.5)] ?? 0,
    p99Micros: took[Math.floor(took.length * 0.99)] ?? 0,
  };
}

/** The server's CPU time, and the number of commands that clients have sent. */
async function serverOf(redis: Redis): Promise<{ cpuMicros: number; reads: number }> {
  const [cpu, commands] = [await redis.info('cpu'), await redis.info('commandstats')];
  const second = (name: string): number => Number(new RegExp(`${name}:([\\d.]+)`).exec(cpu)?.[1] ?? 0);
  const calls = (name: string): number =>
    Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(commands)?.[1] ?? 0);
  return {
    cpuMicros: (second('used_cpu_user') + second('used_cpu_sys')) * 1e6,
    reads: calls('evalsha') + calls('incr'),
  };
}

/** A request from its admission to its settlement. */
function requestTo(limiter: Limiter, given: Pick<AdmitRequest, 'limits' | 'concurrent'>) {
  return async (index: number): Promise<void> => {
    const request: AdmitRequest = {
      requestId: `chatcmpl-${index}`,
      accountId: `account-${index % ACCOUNTS}`,
      keyId: `key-${index % ACCOUNTS}`,
      subject: `key:key-${index % ACCOUNTS}`,
      resource: { kind: 'model', name: 'model' },
      amounts: { requests: 1, tokens: 1_000 },
      ...given,
    };
    const admission = await limiter.admit(request);
    if (!admission.admitted) throw new Error('a limit was reached');
    await limiter.settle(request, admission, { tokens: 700 });
  };
}

async function memoryRows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, given] of Object.entries(CASES)) {
    const one = requestTo(new MemoryLimiter(), given);
    rows.push(await measure({ name: `memory, ${name}`, requests: MEMORY_REQUESTS, atOnce: 1, one }));
  }
  return rows;
}

async function redisRows(url: string): Promise<Row[]> {
  const redis = connectRedis({ url, name: 'bench' });
  while (redis.status !== 'ready') await sleep(5);
  const limiter = new RedisLimiter(redis, { ...STANDARD_TIMES, forgetAfterMs: 60_000 });
  const rows: Row[] = [];
  for (const atOnce of [1, AT_ONCE]) {
    const requests = atOnce === 1 ? REDIS_REQUESTS / 4 : REDIS_REQUESTS;
    const name = `${atOnce} at once`;
    const incr = (index: number): Promise<unknown> => redis.incr(`incr-${index % ACCOUNTS}`);
    rows.push(await measure({ name: `INCR, ${name}`, requests, atOnce, one: incr }, redis));
    for (const [what, given] of Object.entries(CASES)) {
      const one = requestTo(limiter, given);
      rows.push(await measure({ name: `Redis, ${what}, ${name}`, requests, atOnce, one }, redis));
    }
  }
  await limiter.close();
  return rows;
}

function print(rows: readonly Row[]): void {
  const head = ['', 'CPU us', 'server CPU us', 'round trips', 'p50 us', 'p99 us', 'per second'];
  const cells = rows.map((row) => [
    row.name,
    fixed(row.cpuMicros, 2),
    fixed(row.serverMicros, 1),
    fixed(row.roundTrips, 2),
    fixed(row.p50Micros, 0),
    fixed(row.p99Micros, 0),
    fixed(row.perSecond, 0),
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  console.log('Limits: one request is an admit and a settle; an INCR is one command.');
  for (const row of [head, ...cells]) {
    const padded = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${padded.join('  ')}`);
  }
}

function fixed(number: number | undefined, digits: number): string {
  if (number === undefined) return '-';
  return number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const infra = await temporaryInfra();
try {
  const url = await infra.redis.start();
  print([...(await memoryRows()), ...(await redisRows(url))]);
} finally {
  await infra.wipe();
}

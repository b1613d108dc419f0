import assert from 'node:assert/strict';
import {
  type Admission,
  type AdmitRequest,
  type Amounts,
  FAILURES_ALLOWED,
  type FailureBlock,
  LIMIT_UNITS,
  type Limit,
  type LimitRefusal,
  type LimitUnit,
  type LimitsPeek,
  type TakenLimits,
  type UnderWay,
} from '@svc/contracts/ports';
import { type RedisConnection, RedisScript } from '@svc/storage';
import { SharedLimiter } from './shared-limiter.js';
import { ADMIT, BLOCK, FAILED, PEEK, RENEW, SETTLE } from './limiter-scripts.js';
import type { LimiterTimes } from './memory-limiter.js';
import {
  type CountedWindow,
  type LimitedWindow,
  WHOLE,
  admissionOf,
  noCounts,
  windowKey,
  windowsOf,
} from './windows.js';

/** The hash tag keeps all limits on one cluster node, because a step counts in several of them or in none. */
const PREFIX = 'svc:{limits}:';

/** The verdict on a call that its caller no longer waits for. */
const TOO_LATE = -1;

interface Scripts {
  readonly admit: RedisScript;
  readonly settle: RedisScript;
  readonly peek: RedisScript;
  readonly renew: RedisScript;
  readonly blocked: RedisScript;
  readonly failed: RedisScript;
}

export interface RedisLimiterOptions extends LimiterTimes {
  /** An `admit` that Redis runs later than this counts nothing: its caller has given up. */
  readonly forgetAfterMs: number;
}

/**
 * Counts on one Redis server, with one round trip per call. It is exact over any number of processes: scripts
 * run alone, and the server's clock decides when a window ends. In a cluster, all limits are on one node.
 */
export class RedisLimiter extends SharedLimiter {
  private readonly scripts: Scripts;
  /** The server's clock less this process's monotonic clock, by the latest response. */
  private clockOffsetMs: number | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly options: RedisLimiterOptions,
  ) {
    super();
    this.scripts = {
      admit: new RedisScript(redis, ADMIT),
      settle: new RedisScript(redis, SETTLE),
      peek: new RedisScript(redis, PEEK),
      renew: new RedisScript(redis, RENEW),
      blocked: new RedisScript(redis, BLOCK),
      failed: new RedisScript(redis, FAILED),
    };
  }

  override async admit(request: AdmitRequest, isAwaited = (): boolean => true): Promise<Admission> {
    const counted: Counted = { request, windows: windowsOf(request), units: unitsOf(request) };
    const { forgetAfterMs } = this.options;
    const notAfterMs =
      this.clockOffsetMs === undefined
        ? 0
        : Math.ceil(performance.now() + this.clockOffsetMs + forgetAfterMs);
    const reply = await this.take(counted, notAfterMs);
    if (reply[0] !== TOO_LATE) return admission(counted, reply);
    if (!isAwaited()) throw new Error('Redis ran it after its caller had gone');
    // The server's clock was set, or this process was too busy to read responses.
    return admission(counted, await this.take(counted, 0));
  }

  override settle(request: AdmitRequest, admitted: Admission, used: Amounts): Promise<void> {
    const more: (string | number)[] = [];
    for (const unit of LIMIT_UNITS) {
      const estimated = request.amounts[unit] ?? 0;
      const add = (used[unit] ?? estimated) - estimated;
      if (add !== 0) more.push(unit, add);
    }
    return this.correct(request, admitted, more);
  }

  override release(request: AdmitRequest, admitted: Admission): Promise<void> {
    const more: (string | number)[] = [];
    for (const unit of LIMIT_UNITS) {
      const add = -(request.amounts[unit] ?? 0);
      if (add !== 0) more.push(unit, add);
    }
    return this.correct(request, admitted, more);
  }

  override async peek({ accountId, keyId, limits }: LimitsPeek): Promise<TakenLimits> {
    const all = limits.map(({ resource, limit }) => ({
      key: PREFIX + windowKey(limit, { accountId, keyId, resource }),
      limit,
    }));
    if (all.length === 0) return { limits: [] };
    const args = all.flatMap(({ limit: { windowMs, unit } }) => [windowMs, unit]);
    const reply = numbers(await this.scripts.peek.run({ keys: all.map(({ key }) => key), args }));
    return {
      limits: all.map((_, at) => ({ resetAtMs: reply[2 * at] ?? 0, taken: reply[2 * at + 1] ?? 0 })),
    };
  }

  override async renew(live: readonly UnderWay[]): Promise<void> {
    const ours = live.filter(({ countedBy }) => countedBy === undefined);
    const byAccount = Map.groupBy(ours, ({ accountId }) => accountId);
    await Promise.all(
      Array.from(byAccount, ([accountId, requests]) =>
        this.scripts.renew.run({
          keys: [openKey(accountId)],
          args: [this.options.leaseMs, ...requests.map(({ requestId }) => requestId)],
        }),
      ),
    );
  }

  override async blocked(subject: string): Promise<FailureBlock> {
    const args = [this.options.failureBlockMs];
    return blockOf(await this.scripts.blocked.run({ keys: [blockKey(subject)], args }));
  }

  override async failed(subject: string): Promise<FailureBlock> {
    const { failureWindowMs, failureBlockMs } = this.options;
    return blockOf(
      await this.scripts.failed.run({
        keys: [`${PREFIX}{${subject}}:failures`, blockKey(subject)],
        args: [FAILURES_ALLOWED, failureWindowMs, failureBlockMs],
      }),
    );
  }

  /** Writes, because a full server or a replica would still accept reads. */
  override async probe(): Promise<void> {
    await this.redis.set(`${PREFIX}probe`, '1', 'PX', 1_000);
  }

  override close(): Promise<void> {
    this.redis.disconnect();
    return Promise.resolve();
  }

  private async take({ request, windows, units }: Counted, notAfterMs: number): Promise<readonly number[]> {
    const { leaseMs, failureBlockMs } = this.options;
    const { requestId, accountId, subject, amounts, concurrent = -1, bookedEndsAtMs } = request;
    const keys = [openKey(accountId), blockKey(subject)];
    const isBooked = bookedEndsAtMs === undefined ? 0 : 1;
    const args = [requestId, leaseMs, notAfterMs, concurrent, failureBlockMs, isBooked, units.length];
    for (const unit of units) args.push(unit, amounts[unit] ?? 0);
    for (const [index, { key, windowMs, limits }] of windows.entries()) {
      keys.push(PREFIX + key);
      args.push(windowMs, bookedEndsAtMs?.[index] ?? 0);
      for (const unit of units) args.push(lowest(limits, unit));
    }
    const reply = numbers(await this.scripts.admit.run({ keys, args }));
    this.clockOffsetMs = (reply[1] ?? 0) - performance.now();
    return reply;
  }

  /** `more` has the units to correct, and how much to add to each. */
  private async correct(
    request: AdmitRequest,
    { countedBy, endsAtMs }: Admission,
    more: readonly (string | number)[],
  ): Promise<void> {
    // These counts exclude what a process counted on its own.
    if (countedBy !== undefined) return;
    const windows = more.length === 0 ? [] : windowsOf(request);
    await this.scripts.settle.run({
      keys: [openKey(request.accountId), ...windows.map(({ key }) => PREFIX + key)],
      args: [request.requestId, more.length / 2, ...more, ...endsAtMs],
    });
  }
}

/** A request with its windows and the units that it takes or that are limited. */
interface Counted {
  readonly request: AdmitRequest;
  readonly windows: readonly LimitedWindow[];
  readonly units: readonly LimitUnit[];
}

/** Limited units come first, in the order of the limits, which is that of checking. */
function unitsOf({ amounts, limits }: AdmitRequest): LimitUnit[] {
  const units: LimitUnit[] = [];
  for (const { unit } of limits) if (!units.includes(unit)) units.push(unit);
  for (const unit of LIMIT_UNITS) if (amounts[unit] !== undefined && !units.includes(unit)) units.push(unit);
  return units;
}

/** The limit of a unit as a script argument: -1 for none. */
function lowest(limits: readonly Limit[], unit: LimitUnit): number {
  let least = -1;
  for (const limit of limits) if (limit.unit === unit && (least < 0 || limit.max < least)) least = limit.max;
  return least;
}

const openKey = (accountId: string): string => `${PREFIX}{${accountId}}:open`;

const blockKey = (subject: string): string => `${PREFIX}{${subject}}:block`;

function numbers(reply: unknown): readonly number[] {
  assert(
    Array.isArray(reply) && reply.every((item) => typeof item === 'number'),
    'not a reply of the script',
  );
  return reply;
}

/** Decodes the result of the ADMIT script. */
function admission(counted: Counted, reply: readonly number[]): Admission {
  const [verdict = 0, , blockedForMs = 0, isProvisional = 0] = reply;
  const { units } = counted;
  let at = 4;
  const windows = counted.windows.map((window): CountedWindow => {
    const endsAtMs = reply[at++] ?? 0;
    const counts = noCounts();
    for (const unit of units) counts[unit] = reply[at++] ?? 0;
    return { window, counts, endsAtMs };
  });
  const refusedBy = verdict === 0 ? undefined : refusalAt(windows, units, verdict);
  return admissionOf(windows, { refusedBy, isProvisional: isProvisional === 1, blockedForMs }, WHOLE);
}

function blockOf(reply: unknown): FailureBlock {
  assert(typeof reply === 'number', 'not a reply of the script');
  return reply > 0 ? { forMs: reply } : {};
}

/** Decodes a verdict of the ADMIT script. */
function refusalAt(
  windows: readonly CountedWindow[],
  units: readonly LimitUnit[],
  verdict: number,
): LimitRefusal {
  const beyond = verdict - windows.length * units.length;
  if (beyond > 0) return { of: beyond === 1 ? 'concurrent' : 'failures' };
  const refusing = windows[Math.floor((verdict - 1) / units.length)];
  const limit = refusing?.window.limits.find(({ unit }) => unit === units[(verdict - 1) % units.length]);
  assert(refusing && limit, 'not a verdict of the script');
  return { of: 'limit', limit, resetAtMs: refusing.endsAtMs };
}

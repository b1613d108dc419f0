import assert from 'node:assert/strict';
import {
  type Admission,
  type AdmitRequest,
  FAILURES_ALLOWED,
  type FailureBlock,
  type LimitRefusal,
  type UnderWay,
} from '@svc/contracts';
import { type RedisConnection, RedisScript } from '@svc/storage';
import { SharedLimiter } from './leasing-limiter.js';
import { ADMIT, BLOCK, FAILED, RENEW, SETTLE } from './limiter-scripts.js';
import type { LimiterTimes } from './memory-limiter.js';
import {
  CONCURRENCY_REFUSAL,
  type CountedWindow,
  FAILURES_REFUSAL,
  type WindowLimit,
  admissionOf,
  windowLimits,
} from './windows.js';

/** The hash tag keeps all limits on one cluster node, because a step counts in several of them or in none. */
const PREFIX = 'svc:{limits}:';

/** The verdict on a call that its caller no longer waits for. */
const TOO_LATE = -1;

interface Scripts {
  readonly admit: RedisScript;
  readonly settle: RedisScript;
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
      renew: new RedisScript(redis, RENEW),
      blocked: new RedisScript(redis, BLOCK),
      failed: new RedisScript(redis, FAILED),
    };
  }

  override async admit(request: AdmitRequest, isAwaited = (): boolean => true): Promise<Admission> {
    const windows = windowLimits(request);
    const { forgetAfterMs } = this.options;
    const notAfterMs =
      this.clockOffsetMs === undefined
        ? 0
        : Math.ceil(performance.now() + this.clockOffsetMs + forgetAfterMs);
    const reply = await this.take(request, windows, notAfterMs);
    if (reply[0] !== TOO_LATE) return admission(windows, reply);
    if (!isAwaited()) throw new Error('Redis ran it after its caller had gone');
    // The server's clock was set, or this process was too busy to read responses.
    return admission(windows, await this.take(request, windows, 0));
  }

  override settle(request: AdmitRequest, admitted: Admission, tokensUsed: number): Promise<void> {
    return this.correct(request, admitted, { requests: 0, tokens: tokensUsed - request.tokens });
  }

  override release(request: AdmitRequest, admitted: Admission): Promise<void> {
    return this.correct(request, admitted, { requests: -1, tokens: -request.tokens });
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

  private async take(
    request: AdmitRequest,
    windows: readonly WindowLimit[],
    notAfterMs: number,
  ): Promise<readonly number[]> {
    const { windowMs, leaseMs, failureBlockMs } = this.options;
    const { requestId, accountId, subject, tokens, concurrent = -1, bookedResetAtMs = 0 } = request;
    const fits = windows.flatMap((window) => [boundOf(window.requests), boundOf(window.tokens)]);
    const reply = numbers(
      await this.scripts.admit.run({
        keys: [openKey(accountId), blockKey(subject), ...keysOf(windows)],
        args: [
          requestId,
          tokens,
          windowMs,
          leaseMs,
          notAfterMs,
          concurrent,
          failureBlockMs,
          bookedResetAtMs,
          ...fits,
        ],
      }),
    );
    this.clockOffsetMs = (reply[1] ?? 0) - performance.now();
    return reply;
  }

  private async correct(
    request: AdmitRequest,
    { countedBy, resetAtMs }: Admission,
    add: { readonly requests: number; readonly tokens: number },
  ): Promise<void> {
    // These counts exclude what a process counted on its own.
    if (countedBy !== undefined) return;
    await this.scripts.settle.run({
      keys: [openKey(request.accountId), ...keysOf(windowLimits(request))],
      args: [request.requestId, resetAtMs, add.requests, add.tokens],
    });
  }
}

const keysOf = (windows: readonly WindowLimit[]): string[] => windows.map(({ key }) => PREFIX + key);

const openKey = (accountId: string): string => `${PREFIX}{${accountId}}:open`;

const blockKey = (subject: string): string => `${PREFIX}{${subject}}:block`;

/** A limit as a script argument. */
const boundOf = (limit: number): number => (limit === Infinity ? -1 : limit);

function numbers(reply: unknown): readonly number[] {
  assert(
    Array.isArray(reply) && reply.every((item) => typeof item === 'number'),
    'not a reply of the script',
  );
  return reply;
}

/** Decodes the result of the ADMIT script. */
function admission(
  limits: readonly WindowLimit[],
  [verdict = 0, , resetAtMs = 0, blockedForMs = 0, ...counts]: readonly number[],
): Admission {
  const windows = limits.map((limit, index): CountedWindow => {
    const [requests = 0, tokens = 0] = counts.slice(2 * index, 2 * index + 2);
    return { limit, room: limit, count: { requests, tokens } };
  });
  const refusedBy = verdict === 0 ? undefined : refusalAt(limits, verdict);
  return admissionOf(windows, { refusedBy, blockedForMs, resetAtMs });
}

function blockOf(reply: unknown): FailureBlock {
  assert(typeof reply === 'number', 'not a reply of the script');
  return reply > 0 ? { forMs: reply } : {};
}

function refusalAt(limits: readonly WindowLimit[], verdict: number): LimitRefusal {
  const window = limits[Math.floor((verdict - 1) / 2)];
  if (!window) return verdict === 2 * limits.length + 1 ? CONCURRENCY_REFUSAL : FAILURES_REFUSAL;
  return { type: window.type, of: verdict % 2 === 1 ? 'requests' : 'tokens' };
}

import { neighbours } from '@svc/telemetry';
import { Pool } from 'undici';
import type { Exchange } from './exchange.js';
import { Heartbeat, TICK_MS } from './heartbeat.js';

/** Requests at once to one address; what is more waits for one of these to end. */
const CONNECTIONS = 128;

const CONNECT_MS = 1_000;

/** Below the time after which the other side closes an idle connection. */
const KEEP_ALIVE_MS = 60_000;

/** Connections are made anew after this time, so that replicas that come behind one name get their part. */
const CONNECTION_MS = 60_000;

/** An address that failed is left out for this long, and for twice as long each time it fails again. */
const REST_MS = 250;
const MAX_REST_MS = 5_000;

export interface PoolOptions {
  /** The most requests at once to one address; default: 128. */
  readonly connections?: number;
}

/** One address of a neighbour, and how it has fared. */
export class Replica {
  readonly origin: string;
  /** Host and port. */
  readonly address: string;
  readonly pool: Pool;
  readonly heartbeat: Heartbeat;
  /** Calls that may be made elsewhere as long as they have no response. */
  readonly unanswered = new Set<Exchange>();
  inFlight = 0;
  private failures = 0;
  private restsUntilMs = 0;
  private isTried = false;

  constructor(url: string, { connections = CONNECTIONS }: PoolOptions) {
    ({ origin: this.origin, host: this.address } = new URL(url));
    this.heartbeat = new Heartbeat(this.origin);
    this.pool = new Pool(this.origin, {
      connections,
      pipelining: 1,
      connect: { timeout: CONNECT_MS },
      keepAliveTimeout: KEEP_ALIVE_MS,
      clientTtl: CONNECTION_MS,
    });
  }

  /** Whether it may be called: its heart beats, and it did not fail lately or its rest is over and no call is trying it yet. */
  isFit(nowMs: number): boolean {
    if (!this.isBeating) return false;
    return this.failures === 0 || (nowMs >= this.restsUntilMs && !this.isTried);
  }

  get isBeating(): boolean {
    return this.heartbeat.pulse === 'beating';
  }

  get restsUntil(): number {
    return this.restsUntilMs;
  }

  /** Counts a call. What it returns is called once, at the end of it. */
  take(): (failed: boolean) => void {
    this.inFlight += 1;
    this.isTried = true;
    return (failed) => {
      this.inFlight -= 1;
      this.isTried = false;
      if (failed) this.rest();
      else this.failures = 0;
    };
  }

  /** Ends the calls that wait for a response in vain, so that they are made elsewhere. */
  failOver(): void {
    for (const exchange of this.unanswered) exchange.abort(new HeartbeatMissed(this.address));
  }

  async close(): Promise<void> {
    this.heartbeat.close();
    await this.pool.destroy();
  }

  private rest(): void {
    this.restsUntilMs = performance.now() + Math.min(REST_MS * 2 ** this.failures, MAX_REST_MS);
    this.failures = Math.min(this.failures + 1, 10);
  }
}

export class HeartbeatMissed extends Error {
  override readonly name = 'HeartbeatMissed';

  constructor(address: string) {
    super(`${address} did not answer a heartbeat`);
  }
}

/**
 * The addresses of a neighbour: the least busy is called, and those that failed are left out for a while. Where there are
 * several, each gets heartbeats, and one that misses them is left out until it answers one. Those of a single address could
 * only say what its calls say, and behind a name they need not reach the process that the calls reach.
 */
export class Replicas {
  private readonly all: readonly Replica[];
  private turn = 0;
  private readonly ticking: NodeJS.Timeout | undefined;
  private readonly ends: readonly (() => void)[];

  /** @param urls Addresses without a path, by commas. */
  constructor(urls: string, options: PoolOptions = {}) {
    this.all = urls.split(',').map((url) => new Replica(url.trim(), options));
    if (this.all.length > 1) this.ticking = setInterval(() => this.tick(), TICK_MS).unref();
    this.ends = [
      neighbours.resting.observe(() => {
        const nowMs = performance.now();
        return this.all.map((one) => [one.isFit(nowMs) ? 0 : 1, one.address]);
      }),
      neighbours.callsInFlight.observe(() =>
        this.all.flatMap(({ address, inFlight, pool }): [number, string, string][] => [
          [inFlight, address, 'in_flight'],
          [pool.stats.queued, address, 'queued'],
        ]),
      ),
    ];
  }

  get count(): number {
    return this.all.length;
  }

  /**
   * The one to call next, not one of those that were called. Where none is fit, one whose heart beats comes first, then the
   * one whose rest ends first.
   */
  next(asked: ReadonlySet<Replica>): Replica | undefined {
    const nowMs = performance.now();
    let best: Replica | undefined;
    this.turn += 1;
    for (let at = 0; at < this.all.length; at += 1) {
      const one = this.all[(this.turn + at) % this.all.length];
      if (one && !asked.has(one) && (!best || isBetter(one, best, nowMs))) best = one;
    }
    return best;
  }

  async close(): Promise<void> {
    clearInterval(this.ticking);
    for (const end of this.ends) end();
    await Promise.all(this.all.map((one) => one.close()));
  }

  private tick(): void {
    for (const { heartbeat } of this.all) heartbeat.tick();
    if (!this.all.some(({ isBeating }) => isBeating)) return;
    for (const one of this.all) if (one.heartbeat.pulse === 'silent') one.failOver();
  }
}

function isBetter(one: Replica, other: Replica, nowMs: number): boolean {
  const isFit = one.isFit(nowMs);
  if (isFit !== other.isFit(nowMs)) return isFit;
  if (one.isBeating !== other.isBeating) return one.isBeating;
  return isFit ? one.inFlight < other.inFlight : one.restsUntil < other.restsUntil;
}

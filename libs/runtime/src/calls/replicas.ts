import { neighbours } from '@svc/telemetry';
import { Pool } from 'undici';

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
  inFlight = 0;
  private failures = 0;
  private restsUntilMs = 0;
  private isTried = false;

  constructor(url: string, { connections = CONNECTIONS }: PoolOptions) {
    ({ origin: this.origin, host: this.address } = new URL(url));
    this.pool = new Pool(this.origin, {
      connections,
      pipelining: 1,
      connect: { timeout: CONNECT_MS },
      keepAliveTimeout: KEEP_ALIVE_MS,
      clientTtl: CONNECTION_MS,
    });
  }

  /** Whether it may be asked: it did not fail lately, or its rest is over and nobody is trying it yet. */
  isFit(nowMs: number): boolean {
    return this.failures === 0 || (nowMs >= this.restsUntilMs && !this.isTried);
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

  private rest(): void {
    this.restsUntilMs = performance.now() + Math.min(REST_MS * 2 ** this.failures, MAX_REST_MS);
    this.failures = Math.min(this.failures + 1, 10);
  }
}

/** The addresses of a neighbour: the least busy is asked, and those that failed are left out for a while. */
export class Replicas {
  private readonly all: readonly Replica[];
  private turn = 0;
  private readonly ends: readonly (() => void)[];

  /** @param urls Addresses without a path, by commas. */
  constructor(urls: string, options: PoolOptions = {}) {
    this.all = urls.split(',').map((url) => new Replica(url.trim(), options));
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

  /** The one to ask next, not one of those that were asked. Where all of them rest, the one whose rest ends first. */
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
    for (const end of this.ends) end();
    await Promise.all(this.all.map(({ pool }) => pool.destroy()));
  }
}

function isBetter(one: Replica, other: Replica, nowMs: number): boolean {
  const isFit = one.isFit(nowMs);
  if (isFit !== other.isFit(nowMs)) return isFit;
  return isFit ? one.inFlight < other.inFlight : one.restsUntil < other.restsUntil;
}

import { createHash } from 'node:crypto';
import type { Backend } from '@svc/contracts';
import { Agent, type Dispatcher } from 'undici';

/** A backend as this process sees it: where it is, how busy it is, and whether it failed lately. */
export class LiveBackend {
  /** What clients and logs may call it. */
  readonly name: string;
  readonly origin: string;
  readonly path: string;
  inFlight = 0;
  private coolUntilMs = 0;

  constructor(
    url: string,
    readonly backend: Backend,
    readonly dispatcher: Dispatcher,
  ) {
    const { host, origin, pathname } = new URL(url);
    this.name = host;
    this.origin = origin;
    this.path = `${pathname.replace(/\/$/, '')}/chat/completions`;
  }

  /** Whether it has room for one more request. */
  get hasRoom(): boolean {
    return this.inFlight < this.backend.maxInFlight;
  }

  /** Asks it last until then. */
  coolDown(untilMs: number): void {
    this.coolUntilMs = untilMs;
  }

  isCooling(nowMs: number): boolean {
    return nowMs < this.coolUntilMs;
  }
}

/** The backends of all models, one state each for as long as the catalogue names it. */
export class BackendPool {
  private readonly live = new Map<string, LiveBackend>();
  private readonly agent: Agent;

  constructor(
    connectTimeoutMs: number,
    private readonly simulatorUrl: string | undefined,
  ) {
    this.agent = new Agent({
      connect: { timeout: connectTimeoutMs },
      pipelining: 1,
      // Each backend bounds its own requests in flight.
      connections: null,
      // Below the five seconds after which common model servers close an idle connection.
      keepAliveTimeout: 4_000,
    });
  }

  /** Those that may be asked for a model, in the order in which to ask them. */
  candidates(backends: readonly Backend[], cacheKey: string | undefined): LiveBackend[] {
    const nowMs = performance.now();
    const only = backends.length === 1 ? backends[0] : undefined;
    if (only) return this.resolve(only);
    return backends
      .flatMap((backend) => this.resolve(backend))
      .map((live) => ({ live, rank: rank(live, cacheKey), cooling: live.isCooling(nowMs) }))
      .toSorted((a, b) => Number(a.cooling) - Number(b.cooling) || b.rank - a.rank)
      .map(({ live }) => live);
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private resolve(backend: Backend): LiveBackend[] {
    const url = backend.url ?? this.simulatorUrl;
    if (url === undefined) return [];
    const key = `${url} ${backend.model}`;
    const known = this.live.get(key);
    if (known && known.backend.maxInFlight === backend.maxInFlight) return [known];
    const fresh = new LiveBackend(url, backend, this.agent);
    fresh.inFlight = known?.inFlight ?? 0;
    this.live.set(key, fresh);
    return [fresh];
  }
}

/**
 * Weighted rendezvous hashing: each backend draws a score and the highest is asked first, in proportion to its
 * weight. With a cache key the draw is the same each time, so a conversation stays where its prefix is cached.
 */
function rank(live: LiveBackend, cacheKey: string | undefined): number {
  const draw =
    cacheKey === undefined ? Math.random() : hashToUnit(`${cacheKey} ${live.name} ${live.backend.model}`);
  return -live.backend.weight / Math.log(draw || Number.MIN_VALUE);
}

function hashToUnit(text: string): number {
  return (createHash('sha1').update(text).digest().readUInt32BE(0) + 0.5) / 2 ** 32;
}

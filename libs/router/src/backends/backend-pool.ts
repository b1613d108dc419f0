import { createHash } from 'node:crypto';
import type { Backend, InferenceCall } from '@svc/contracts';
import { Agent } from 'undici';
import { type Dialect, dialectOf } from '../dialects/dialect.js';
import { BackendLoad, type Waiter } from './backend-load.js';
import type { BackendRest } from './backend-rest.js';

/** An entry of the catalogue with the load of where it points to. */
export class LiveBackend {
  /** What clients and logs may call it; its host is the operator's business. */
  readonly name: string;
  readonly host: string;
  readonly origin: string;
  /** What goes before the path of each call. */
  readonly basePath: string;
  readonly dialect: Dialect;

  constructor(
    readonly backend: Backend,
    private readonly load: BackendLoad,
    at: { readonly url: URL; readonly position: number },
  ) {
    const { host, origin, pathname } = at.url;
    this.name = backend.name ?? `backend-${at.position + 1}`;
    this.host = host;
    this.origin = origin;
    this.basePath = pathname.replace(/\/$/, '');
    this.dialect = dialectOf(backend);
  }

  get inFlight(): number {
    return this.load.inFlight;
  }

  /** Takes a place, if there is one; what it returns is called once, to give it back. */
  take(accountId: string): (() => void) | undefined {
    return this.load.take(accountId, this.backend.maxInFlight);
  }

  /** Waits for a place; what it returns ends the wait. */
  join(waiter: Omit<Waiter, 'maxInFlight'>): () => void {
    return this.load.join({ ...waiter, maxInFlight: this.backend.maxInFlight });
  }

  get rest(): BackendRest {
    return this.load.rest;
  }
}

/** The backends of all models. A load outlives the catalogue that names it, entries come and go with theirs. */
export class BackendPool {
  private readonly loads = new Map<string, BackendLoad>();
  private readonly live = new WeakMap<Backend, LiveBackend>();
  /** Makes the calls to all of them. */
  readonly agent: Agent;

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

  /** Those that may be asked for a model, in the order in which to ask them for a call. */
  candidates(
    backends: readonly Backend[],
    { cacheKey, accountId }: Partial<Pick<InferenceCall, 'cacheKey' | 'accountId'>> = {},
  ): LiveBackend[] {
    const only = backends.length === 1 ? backends[0] : undefined;
    if (only) return this.resolve(only, 0);
    return backends
      .flatMap((backend, position) => this.resolve(backend, position))
      .map((live) => ({ live, rank: rank(live, cacheKey), rests: live.rest.isOn(accountId) }))
      .toSorted((a, b) => Number(a.rests) - Number(b.rests) || b.rank - a.rank)
      .map(({ live }) => live);
  }

  /** Forgets the load of what is not among these, unless it is in use. */
  keep(backends: readonly Backend[]): void {
    const named = new Set(backends.flatMap((backend) => this.keyOf(backend) ?? []));
    for (const [key, load] of this.loads) if (load.isIdle && !named.has(key)) this.loads.delete(key);
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private resolve(backend: Backend, position: number): LiveBackend[] {
    const known = this.live.get(backend);
    if (known) return [known];
    const url = this.urlOf(backend);
    const key = this.keyOf(backend);
    if (url === undefined || key === undefined) return [];
    const load = this.loads.get(key) ?? new BackendLoad();
    this.loads.set(key, load);
    const live = new LiveBackend(backend, load, { url: new URL(url), position });
    this.live.set(backend, live);
    return [live];
  }

  private keyOf(backend: Backend): string | undefined {
    const url = this.urlOf(backend);
    return url === undefined ? undefined : `${new URL(url).href.replace(/\/$/, '')} ${backend.model}`;
  }

  private urlOf(backend: Backend): string | undefined {
    return backend.url ?? this.simulatorUrl;
  }
}

/**
 * Weighted rendezvous hashing: each backend draws a score and the highest is asked first, in proportion to its
 * weight. With a cache key the draw is the same each time, so a conversation stays where its prefix is cached.
 */
function rank(live: LiveBackend, cacheKey: string | undefined): number {
  const draw =
    cacheKey === undefined ? Math.random() : hashToUnit(`${cacheKey} ${live.host} ${live.backend.model}`);
  return -live.backend.weight / Math.log(draw || Number.MIN_VALUE);
}

function hashToUnit(text: string): number {
  return (createHash('sha1').update(text).digest().readUInt32BE(0) + 0.5) / 2 ** 32;
}

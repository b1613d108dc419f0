import { createHash } from 'node:crypto';
import type { Backend, InferenceCall } from '@svc/contracts';
import { type Connections, connections } from '@svc/runtime';
import type { Dialect } from '../dialects/dialect.js';
import { dialectOf } from '../dialects/dialects.js';
import { BackendLoad, type Waiter } from './backend-load.js';
import type { AttestedKey } from '../enclaves/attested-key.js';
import type { BackendCooldown } from './backend-cooldown.js';

/** A backend of the catalogue, with the load of its URL and model. */
export class LiveBackend {
  /** The name for clients and logs; the host is for the operator only. */
  readonly name: string;
  readonly host: string;
  readonly origin: string;
  /** The prefix of each call's path. */
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

  /** Takes a slot, if one is free. Call the returned function once, to free it. */
  take(accountId: string): (() => void) | undefined {
    return this.load.take(accountId, this.backend.maxInFlight);
  }

  /** Waits for a slot; the returned function ends the wait. */
  join(waiter: Omit<Waiter, 'maxInFlight'>): () => void {
    return this.load.join({ ...waiter, maxInFlight: this.backend.maxInFlight });
  }

  get attested(): AttestedKey {
    return this.load.attested;
  }

  get cooldown(): BackendCooldown {
    return this.load.cooldown;
  }
}

/** The backends of all models. A load survives catalogue reloads; backend entries do not. */
export class BackendPool {
  private readonly loads = new Map<string, BackendLoad>();
  private readonly live = new WeakMap<Backend, LiveBackend>();
  /** Those to all backends. */
  readonly connections: Connections;

  constructor(
    connectTimeoutMs: number,
    private readonly simulatorUrl: string | undefined,
  ) {
    // Below the five seconds after which common model servers close an idle connection.
    this.connections = connections({ connectTimeoutMs, keepAliveMs: 4_000 });
  }

  /** The usable backends of a model, in the order in which to call them. */
  candidates(
    backends: readonly Backend[],
    { cacheKey, accountId }: Partial<Pick<InferenceCall, 'cacheKey' | 'accountId'>> = {},
  ): LiveBackend[] {
    const only = backends.length === 1 ? backends[0] : undefined;
    if (only) return this.resolve(only, 0);
    return backends
      .flatMap((backend, position) => this.resolve(backend, position))
      .map((live) => ({ live, rank: rank(live, cacheKey), isCooling: live.cooldown.isOn(accountId) }))
      .toSorted((a, b) => Number(a.isCooling) - Number(b.isCooling) || b.rank - a.rank)
      .map(({ live }) => live);
  }

  /** Drops the loads of backends other than these, unless in use. */
  keep(backends: readonly Backend[]): void {
    const named = new Set(backends.flatMap((backend) => this.keyOf(backend) ?? []));
    for (const [key, load] of this.loads) if (load.isIdle && !named.has(key)) this.loads.delete(key);
  }

  close(): Promise<void> {
    return this.connections.close();
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
 * Weighted rendezvous hashing: each backend draws a score and the highest is called first, in proportion to
 * its weight. With a cache key the draw is the same each time, so a conversation stays where its prefix is
 * cached.
 */
function rank(live: LiveBackend, cacheKey: string | undefined): number {
  const draw =
    cacheKey === undefined ? Math.random() : hashToUnit(`${cacheKey} ${live.host} ${live.backend.model}`);
  return -live.backend.weight / Math.log(draw || Number.MIN_VALUE);
}

function hashToUnit(text: string): number {
  return (createHash('sha1').update(text).digest().readUInt32BE(0) + 0.5) / 2 ** 32;
}

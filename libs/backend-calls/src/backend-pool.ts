import { isIPv6 } from 'node:net';
import type { Backend } from '@svc/contracts/catalog';
import type { WireCall } from '@svc/contracts/inference';
import {
  type Connections,
  type EgressProxy,
  Exchange,
  type ExchangeRequest,
  type PodSlots,
  connections,
  hashOf,
} from '@svc/runtime';
import { BackendLoad, type GiveBack, type Waiter } from './backend-load.js';
import { ordered } from './choice/server-choice.js';
import { type CallWork, NO_WORK, type ServerWork } from './choice/server-work.js';
import type { BackendHealth } from './health/backend-health.js';
import type { Sharer } from './sharing/token-queue.js';
import { DrainBook } from './health/drain-book.js';

/** A backend of the catalogue, with the load of its URL and model. */
export class LiveBackend {
  /** The name for clients and logs; the host is for the operator only. */
  readonly name: string;
  readonly host: string;
  readonly origin: string;
  /** The prefix of each call's path. */
  readonly basePath: string;
  /** The same for its host and model in every process. */
  readonly seed: number;

  constructor(
    readonly backend: Backend,
    /** The same for all entries with this URL and model, and after reloads of the catalogue. */
    readonly load: BackendLoad,
    { url, name }: { readonly url: URL; readonly name: string },
  ) {
    const { host, origin, pathname } = url;
    this.name = name;
    this.host = host;
    this.origin = origin;
    this.basePath = pathname.replace(/\/$/, '');
    this.seed = hashOf(`${host} ${backend.model}`);
  }

  get weight(): number {
    return this.backend.weight;
  }

  get work(): ServerWork {
    return this.load.work;
  }

  get inFlight(): number {
    return this.load.inFlight;
  }

  /** Takes a slot, if one is free. */
  take(sharer: Sharer): GiveBack | undefined {
    return this.load.take(sharer, this.backend.maxInFlight);
  }

  /** Waits for a slot; the returned function ends the wait. */
  join(waiter: Omit<Waiter, 'maxInFlight'>): () => void {
    return this.load.join({ ...waiter, maxInFlight: this.backend.maxInFlight });
  }

  get health(): BackendHealth {
    return this.load.health;
  }
}

const NO_SLOTS: PodSlots = [];

/** The backends of an entry of the catalogue, for these addresses. */
interface Resolved {
  readonly slots: PodSlots;
  readonly live: ReadonlyMap<string, LiveBackend>;
}

/** By whom and how a backend is chosen, and which may be. */
type BackendChoice = Partial<Pick<WireCall, 'accountId' | 'backend' | 'exceptBackend' | 'model'>>;

/** All backends. A load survives catalogue reloads; backend entries do not. */
export class BackendPool {
  private readonly loads = new Map<string, BackendLoad>();
  private readonly resolved = new WeakMap<Backend, Resolved>();
  /** The loads of addresses that were in use when they vanished. */
  private readonly vanished = new Set<string>();
  /** Those to all backends. */
  readonly connections: Connections;
  /** Those that operators have taken out of service. */
  readonly drains = new DrainBook();

  constructor(
    connectTimeoutMs: number,
    private readonly simulatorUrl: string | undefined,
    /** The addresses of a name for which each is a backend; it may be called often. */
    private readonly addressesOf: (hostname: string) => PodSlots = () => NO_SLOTS,
    proxy?: EgressProxy,
  ) {
    // Below the five seconds after which common model servers close an idle connection.
    this.connections = connections({ connectTimeoutMs, keepAliveMs: 4_000, proxy });
  }

  /**
   * The usable ones of these backends, in the order in which to call them. With the name of the model, those
   * in service; a call that names a backend, such as one about its job, reaches it in any case.
   */
  candidates(
    backends: readonly Backend[],
    { accountId, backend, exceptBackend, model }: BackendChoice = {},
    work: CallWork = NO_WORK,
  ): readonly LiveBackend[] {
    const all = this.members(backends).filter(
      ({ name }) =>
        name === (backend ?? name) &&
        name !== exceptBackend &&
        (backend !== undefined || model === undefined || !this.drains.of(model, name)),
    );
    if (all.length < 2) return all;
    const order = ordered(all, work, performance.now());
    // Usually all of them work.
    if (!all.some(({ health }) => health.isOn(accountId) || health.isDoubtful || health.isFull)) return order;
    const mayPause = all.filter(({ health }) => health.isPaused).length * 2 <= all.length;
    return order
      .map((live) => ({ live, place: placeOf(live, accountId, mayPause) }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ live }) => live);
  }

  /** All backends of these entries, in and out of service, as they are in the catalogue. */
  members(backends: readonly Backend[]): LiveBackend[] {
    const members: LiveBackend[] = [];
    for (const [position, entry] of backends.entries())
      for (const live of this.resolve(entry, position)) members.push(live);
    return members;
  }

  /** Drops the loads of backends other than these, unless in use. */
  keep(backends: readonly Backend[]): void {
    const named = new Set(backends.flatMap((backend) => this.placesOf(backend).map(({ key }) => key)));
    for (const [key, load] of this.loads) if (load.isIdle && !named.has(key)) this.loads.delete(key);
  }

  /** A call to one backend outside of its slots, for which no other one is called. */
  async callApart<Result>(
    request: ExchangeRequest,
    { signal, mayRepeat }: { readonly signal?: AbortSignal; readonly mayRepeat: boolean },
    take: (exchange: Exchange) => Promise<Result>,
  ): Promise<Result> {
    const { kept, fresh } = this.connections;
    const exchange = await Exchange.start(kept, request, {
      signal,
      onEnd: () => undefined,
      fresh: mayRepeat ? fresh : undefined,
    });
    try {
      return await take(exchange);
    } finally {
      exchange.abort();
    }
  }

  close(): Promise<void> {
    return this.connections.close();
  }

  private resolve(backend: Backend, position: number): Iterable<LiveBackend> {
    const slots = this.slotsOf(backend);
    const known = this.resolved.get(backend);
    if (known?.slots === slots) return known.live.values();
    const live = new Map<string, LiveBackend>();
    const entryName = backend.name ?? `backend-${position + 1}`;
    for (const { key, url, suffix } of this.placesOf(backend, slots)) {
      const name = `${entryName}${suffix}`;
      const load = this.loads.get(key) ?? new BackendLoad();
      this.loads.set(key, load);
      const before = known?.live.get(key);
      live.set(key, before?.name === name ? before : new LiveBackend(backend, load, { url, name }));
    }
    this.resolved.set(backend, { slots, live });
    for (const key of known?.live.keys() ?? []) if (!live.has(key)) this.vanished.add(key);
    this.dropVanished(live);
    return live.values();
  }

  private dropVanished(present: ReadonlyMap<string, unknown>): void {
    for (const key of this.vanished) {
      const isIdle = this.loads.get(key)?.isIdle ?? true;
      if (isIdle && !present.has(key)) this.loads.delete(key);
      if (isIdle || present.has(key)) this.vanished.delete(key);
    }
  }

  private slotsOf(backend: Backend): PodSlots {
    const url = this.urlOf(backend);
    return backend.eachAddress === true && url !== undefined
      ? this.addressesOf(new URL(url).hostname)
      : NO_SLOTS;
  }

  /** The URLs of an entry: those of its addresses, or its own if none is known. */
  private placesOf(backend: Backend, slots = this.slotsOf(backend)) {
    const text = this.urlOf(backend);
    if (text === undefined) return [];
    const placeAt = (url: URL, suffix: string) => ({
      url,
      suffix,
      key: `${url.href.replace(/\/$/, '')} ${backend.model}`,
    });
    const places = slots.flatMap((address, at) => {
      if (address === undefined) return [];
      const url = new URL(text);
      url.hostname = isIPv6(address) ? `[${address}]` : address;
      // No entry may have such a name itself.
      return [placeAt(url, `#${at + 1}`)];
    });
    return places.length > 0 ? places : [placeAt(new URL(text), '')];
  }

  private urlOf(backend: Backend): string | undefined {
    return backend.url ?? this.simulatorUrl;
  }
}

/**
 * The backends with 0 are called first, then those that report to be full, that pause, and that are down.
 * Unless `mayPause`, none is called later for its pause: more than half of them do, so the fault is probably
 * not theirs.
 */
function placeOf({ health }: LiveBackend, accountId: string | undefined, mayPause: boolean): number {
  if (health.isDown) return 3;
  if ((mayPause && health.isPaused) || health.isDoubtful || health.isPausedFor(accountId)) return 2;
  return Number(health.isFull);
}

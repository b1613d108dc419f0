import { isIP, isIPv4 } from 'node:net';
import { neighbours } from '@svc/telemetry';
import { hashOf, mixed } from '../hashes.js';
import { PassingSet } from '../passing.js';
import { type Connections, connections } from './connections.js';
import type { Exchange } from './exchange.js';
import { Heartbeat, TICK_MS } from './heartbeat.js';
import { PodAddresses, type PodSlots } from './pod-addresses.js';

/** The most concurrent requests to one address; further ones wait for a connection. */
const CONNECTIONS = 128;

const CONNECT_MS = 1_000;

/** Shorter than the time after which the other side closes an idle connection. */
const KEEP_ALIVE_MS = 60_000;

/** Connections are renewed after this time, so that new replicas behind one name get their share. */
const CONNECTION_MS = 60_000;

/** A preferred address has at most this many times the mean of the calls, and a few more. */
const MOST_SHARE = 1.5;
const FEW_CALLS = 16;

/** The most addresses of one name. */
const MOST_ADDRESSES = 64;

/** How long a failed address is skipped, doubled with each further failure. */
const REST_MS = 250;
const MAX_REST_MS = 5_000;

export interface ReplicaOptions {
  /** The most concurrent requests to one address; default: 128. */
  readonly connections?: number;
  /**
   * Whether a name with several addresses, such as that of a headless service, is as many replicas. Over HTTP
   * only, since pods have no certificates for their addresses.
   */
  readonly eachAddress?: boolean;
  /** Looks names up; default: DNS. */
  readonly pods?: PodAddresses;
}

/** One address of a neighbour, with its recent failures. */
export class Replica {
  readonly origin: string;
  /** Host and port. */
  readonly address: string;
  private readonly seed: number;
  readonly connections: Connections;
  readonly heartbeat: Heartbeat;
  /** Calls without a response that may move to another address. */
  readonly unanswered = new PassingSet<Exchange>();
  inFlight = 0;
  private failures = 0;
  private restsUntilMs = 0;
  private isTried = false;

  constructor(url: string, { connections: most = CONNECTIONS }: Pick<ReplicaOptions, 'connections'>) {
    ({ origin: this.origin, host: this.address } = new URL(url));
    this.seed = hashOf(this.address);
    this.heartbeat = new Heartbeat(this.origin);
    this.connections = connections({
      connectTimeoutMs: CONNECT_MS,
      keepAliveMs: KEEP_ALIVE_MS,
      longestMs: CONNECTION_MS,
      most,
    });
  }

  /**
   * Whether to call it: its heartbeats succeed, and it has not failed lately, or its rest is over and no
   * trial call is running.
   */
  isFit(nowMs: number): boolean {
    if (!this.isBeating) return false;
    return this.failures === 0 || (nowMs >= this.restsUntilMs && !this.isTried);
  }

  /** The replica with the highest rank is preferred for a key, in every process (rendezvous hashing). */
  rankFor(key: number): number {
    return mixed(key ^ this.seed) >>> 0;
  }

  get isBeating(): boolean {
    return this.heartbeat.pulse === 'beating';
  }

  get restsUntil(): number {
    return this.restsUntilMs;
  }

  /** Counts a call. Call the returned function once, when the call ends. */
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

  /** Aborts the calls that wait for a response, so that they move to another address. */
  failOver(): void {
    for (const exchange of this.unanswered) exchange.abort(new HeartbeatMissed(this.address));
  }

  async close(): Promise<void> {
    this.heartbeat.close();
    await this.connections.close();
  }

  private rest(): void {
    this.restsUntilMs = performance.now() + Math.min(REST_MS * 2 ** this.failures, MAX_REST_MS);
    this.failures = Math.min(this.failures + 1, 10);
  }
}

export class HeartbeatMissed extends Error {
  override readonly name = 'HeartbeatMissed';

  constructor(address: string) {
    super(`${address} did not respond a heartbeat`);
  }
}

/** A URL of a neighbour, and its replicas: one, or one for each address of its name. */
interface Origin {
  readonly url: URL;
  slots: PodSlots;
  replicas: readonly Replica[];
}

/**
 * The addresses of a neighbour. The least busy one is called, and those that failed are skipped for a while.
 * If there are several, each gets heartbeats, and one that misses them is skipped until it responds to one. A
 * single address gets none: they would show no more than the calls do, and behind a name they may reach
 * another process than the calls.
 */
export class Replicas {
  private readonly origins: readonly Origin[];
  private readonly pods: PodAddresses | undefined;
  private all: readonly Replica[];
  /** Addresses that are gone, until their last calls have ended. */
  private readonly leaving = new Set<Replica>();
  private turn = 0;
  private ticking: NodeJS.Timeout | undefined;
  private readonly ends: readonly (() => void)[];

  /** @param urls URLs without a path, separated by commas. */
  constructor(
    urls: string,
    private readonly options: ReplicaOptions = {},
  ) {
    this.origins = urls.split(',').map((url) => ({
      url: new URL(url.trim()),
      slots: [],
      replicas: [new Replica(url.trim(), options)],
    }));
    this.all = this.origins.flatMap(({ replicas }) => replicas);
    if (options.eachAddress === true && this.origins.some(hasAddresses))
      this.pods = options.pods ?? new PodAddresses();
    this.ends = [
      neighbours.resting.observe(() => {
        const nowMs = performance.now();
        return this.all.map((one) => [one.isFit(nowMs) ? 0 : 1, one.address]);
      }),
      neighbours.callsInFlight.observe(() =>
        this.all.flatMap(({ address, inFlight, connections: own }): [number, string, string][] => [
          [inFlight, address, 'in_flight'],
          [own.waiting(), address, 'queued'],
        ]),
      ),
    ];
    this.follow();
    this.startTicking();
  }

  get every(): readonly Replica[] {
    this.follow();
    return this.all;
  }

  get count(): number {
    return this.all.length;
  }

  /**
   * The address to call next, other than those already called. If none is fit, one with heartbeats is
   * preferred, then the one whose rest ends first. Calls with the same key prefer the same address, until it
   * is much busier than the others.
   */
  next(tried: ReadonlySet<Replica>, key?: string): Replica | undefined {
    this.follow();
    const nowMs = performance.now();
    const preferred =
      key === undefined || this.all.length < 2 ? undefined : this.preferred(hashOf(key), nowMs);
    if (preferred && !tried.has(preferred)) return preferred;
    let best: Replica | undefined;
    this.turn += 1;
    for (let at = 0; at < this.all.length; at += 1) {
      const one = this.all[(this.turn + at) % this.all.length];
      if (one && !tried.has(one) && (!best || isBetter(one, best, nowMs))) best = one;
    }
    return best;
  }

  /** The fit address with the highest rank for a key, other than those with far more calls than the mean. */
  private preferred(key: number, nowMs: number): Replica | undefined {
    let calls = 0;
    for (const { inFlight } of this.all) calls += inFlight;
    const most = FEW_CALLS + (MOST_SHARE * calls) / this.all.length;
    let best: Replica | undefined;
    for (const one of this.all)
      if (one.inFlight <= most && one.isFit(nowMs) && (!best || one.rankFor(key) > best.rankFor(key)))
        best = one;
    return best;
  }

  async close(): Promise<void> {
    clearInterval(this.ticking);
    this.pods?.close();
    for (const end of this.ends) end();
    await Promise.all([...this.all, ...this.leaving].map((one) => one.close()));
    this.leaving.clear();
  }

  /** Follows the addresses of names. A pod that comes or goes moves only its share of the keys. */
  private follow(): void {
    const { pods } = this;
    if (!pods) return;
    let hasChanged = false;
    for (const origin of this.origins) {
      if (!hasAddresses(origin)) continue;
      const slots = pods.of(origin.url.hostname);
      // Without any, which may be a fault of DNS, the known ones remain.
      if (slots === origin.slots || slots.length === 0) continue;
      origin.slots = slots;
      this.replace(origin, originsOf(origin.url, slots));
      hasChanged = true;
    }
    if (!hasChanged) return;
    this.all = this.origins.flatMap(({ replicas }) => replicas);
    this.startTicking();
  }

  private replace(origin: Origin, urls: readonly string[]): void {
    const before = new Map(origin.replicas.map((one) => [one.origin, one]));
    origin.replicas = urls.map((url) => {
      const known = before.get(url);
      before.delete(url);
      return known ?? new Replica(url, this.options);
    });
    for (const gone of before.values()) this.leaving.add(gone);
  }

  private startTicking(): void {
    if (this.all.length > 1 || this.leaving.size > 0)
      this.ticking ??= setInterval(() => this.tick(), TICK_MS).unref();
  }

  private tick(): void {
    this.follow();
    for (const one of this.leaving) {
      if (one.inFlight > 0) continue;
      this.leaving.delete(one);
      // It never rejects, since nothing is under way.
      void one.close();
    }
    if (this.all.length < 2 && this.leaving.size === 0) {
      clearInterval(this.ticking);
      this.ticking = undefined;
      return;
    }
    const watched = [...this.all, ...this.leaving];
    for (const { heartbeat } of watched) heartbeat.tick();
    if (!this.all.some(({ isBeating }) => isBeating)) return;
    for (const one of watched) if (one.heartbeat.pulse === 'silent') one.failOver();
  }
}

/** Whether a URL may stand for several addresses. */
const hasAddresses = ({ url }: Pick<Origin, 'url'>): boolean =>
  url.protocol === 'http:' && isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0;

/**
 * The origins of the addresses of a name, in one order in every process; those of one family, since a pod may
 * have one of each. A name with one address is called by its name.
 */
function originsOf({ origin, port }: URL, slots: PodSlots): string[] {
  const all = slots.filter((address) => address !== undefined).toSorted();
  const short = all.filter((address) => isIPv4(address));
  const addresses = (short.length > 0 ? short : all).slice(0, MOST_ADDRESSES);
  if (addresses.length < 2) return [origin];
  const end = port === '' ? '' : `:${port}`;
  return addresses.map((address) => `http://${isIPv4(address) ? address : `[${address}]`}${end}`);
}

function isBetter(one: Replica, other: Replica, nowMs: number): boolean {
  const isFit = one.isFit(nowMs);
  if (isFit !== other.isFit(nowMs)) return isFit;
  if (one.isBeating !== other.isBeating) return one.isBeating;
  return isFit ? one.inFlight < other.inFlight : one.restsUntil < other.restsUntil;
}

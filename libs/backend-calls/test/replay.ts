import { hashOf } from '@svc/runtime';
import { random } from './seeded.js';

/** Prompts of accounts with a long beginning of their own each, in conversations of six turns. */
export interface Arrival {
  readonly atMs: number;
  readonly account: number;
  readonly body: readonly Uint8Array[];
  /** The parts of the prompt, of 128 tokens each, as a server has them in its cache. */
  readonly parts: readonly string[];
  readonly outputTokens: number;
}

interface Workload {
  readonly seed: number;
  readonly perSecond: number;
  /** The share of the first account. */
  readonly hotShare: number;
  readonly seconds: number;
}

const ACCOUNTS = 150;
const CONVERSATIONS = 6;
const TURNS = 6;
const SYSTEM_PARTS = 46;
const TURN_PARTS = 3;
const PART_BYTES = 512;
const PART_TOKENS = 128;

const texts = new Map<string, Buffer>();

function textOf(name: string, length: number): Buffer {
  const known = texts.get(name);
  if (known) return known;
  let text = '';
  for (let at = 0; text.length < length; at += 1) text += `${(hashOf(name, at) >>> 0).toString(36)} `;
  const bytes = Buffer.from(text.slice(0, length));
  texts.set(name, bytes);
  return bytes;
}

const BEGIN = Buffer.from('{"messages":[{"role":"system","content":"');
const NEXT = Buffer.from('"},{"role":"user","content":"');
const END = Buffer.from('"}],"max_tokens":100,"stream":true}');

export function arrivalsOf({ seed, perSecond, hotShare, seconds }: Workload): Arrival[] {
  const next = random(seed);
  const turns = new Map<string, number>();
  const arrivals: Arrival[] = [];
  for (let atMs = 0; atMs < seconds * 1_000;) {
    atMs += (-Math.log(1 - next()) / perSecond) * 1_000;
    const account = next() < hotShare ? 0 : Math.floor(next() * ACCOUNTS);
    const name = `${account}.${Math.floor(next() * CONVERSATIONS)}`;
    const turn = turns.get(name) ?? 0;
    turns.set(name, turn + 1);
    const conversation = `${name}.${Math.floor(turn / TURNS)}`;
    const parts = Array.from({ length: SYSTEM_PARTS }, (_, at) => `${account} ${at}`);
    const body = [BEGIN, textOf(String(account), SYSTEM_PARTS * PART_BYTES)];
    for (let past = 0; past <= turn % TURNS; past += 1) {
      body.push(NEXT, textOf(`${conversation} ${past}`, TURN_PARTS * PART_BYTES - NEXT.length));
      for (let at = 0; at < TURN_PARTS; at += 1) parts.push(`${conversation} ${past} ${at}`);
    }
    body.push(END);
    const outputTokens = 80 + Math.floor(next() * 240);
    arrivals.push({ atMs, account, body: [Buffer.concat(body)], parts, outputTokens });
  }
  return arrivals;
}

/** Tokens of prompts per millisecond, one prompt after the other. */
const SPEED = 12;
const CACHED_PARTS = Math.floor(120_000 / PART_TOKENS);
const TOKEN_MS = 12;
const SEQUENCE_MS = 0.6;
const MOST_SEQUENCES = 48;
const LEAST_MS = 4;

/** A model server, as far as prompts, their cache and the number of sequences matter. */
export class ReplayedServer {
  inFlight = 0;
  served = 0;
  /** When all prompts so far are computed. */
  freeMs = 0;
  private readonly cache = new Set<string>();

  /** `pace` is its speed relative to others. */
  constructor(readonly pace = 1) {}

  cached(parts: readonly string[]): number {
    const missing = parts.findIndex((part) => !this.cache.has(part));
    return missing === -1 ? parts.length : missing;
  }

  computeMs(parts: readonly string[], cached: number): number {
    return Math.max(LEAST_MS, ((parts.length - cached) * PART_TOKENS) / (SPEED * this.pace));
  }

  add(parts: readonly string[]): void {
    for (const part of parts.toReversed()) {
      this.cache.delete(part);
      this.cache.add(part);
    }
    for (const oldest of this.cache) {
      if (this.cache.size <= CACHED_PARTS) break;
      this.cache.delete(oldest);
    }
  }

  outputMs(tokens: number): number {
    return tokens * (TOKEN_MS + SEQUENCE_MS * Math.min(this.inFlight + 1, MOST_SEQUENCES));
  }
}

/** Until then caches are filled, which is slow whatever is chosen. */
const COLD_MS = 30_000;

/** A way to choose a server, and what it learns. */
export interface Policy {
  readonly choose: (arrival: Arrival) => number;
  readonly answered?: (at: number, nowMs: number, arrival: Arrival) => void;
  readonly ended?: (at: number, counted: { all: number; cached: number }, arrival: Arrival) => void;
}

export interface Replayed {
  readonly hitShare: number;
  /** The time to the first token that this share of the requests has at most. */
  readonly firstTokenMs: (share: number) => number;
  /** The longest time that a server had more than twice its share of all running requests. */
  readonly longestOverMs: number;
  readonly shares: readonly number[];
}

/** Sends requests to servers on a clock of its own. */
export function replay(
  arrivals: readonly Arrival[],
  servers: readonly ReplayedServer[],
  policy: Policy,
): Replayed {
  const events: { readonly atMs: number; readonly run: () => void }[] = [];
  const plan = (atMs: number, run: () => void): void => {
    let place = events.length;
    while (place > 0 && (events[place - 1]?.atMs ?? 0) > atMs) place -= 1;
    events.splice(place, 0, { atMs, run });
  };
  const over = new Overload(servers);
  const times: number[] = [];
  let cachedParts = 0;
  let allParts = 0;
  for (const arrival of arrivals) {
    const { atMs, parts, outputTokens } = arrival;
    while ((events[0]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs) events.shift()?.run();
    over.look(atMs);
    const at = policy.choose(arrival);
    const server = servers[at];
    if (!server) throw new RangeError('there is no such server');
    const cached = server.cached(parts);
    server.add(parts);
    cachedParts += cached;
    allParts += parts.length;
    const firstMs = Math.max(atMs, server.freeMs) + server.computeMs(parts, cached);
    server.freeMs = firstMs;
    if (atMs >= COLD_MS) times.push(firstMs - atMs);
    const endMs = firstMs + server.outputMs(outputTokens);
    server.inFlight += 1;
    server.served += 1;
    plan(firstMs, () => policy.answered?.(at, firstMs, arrival));
    plan(endMs, () => {
      server.inFlight -= 1;
      const counted = { all: parts.length * PART_TOKENS, cached: cached * PART_TOKENS };
      policy.ended?.(at, counted, arrival);
    });
  }
  times.sort((a, b) => a - b);
  return {
    hitShare: cachedParts / allParts,
    firstTokenMs: (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0,
    longestOverMs: over.longestMs,
    shares: servers.map(({ served }) => served / arrivals.length),
  };
}

/** Fewer running requests of each server are too few to be shared evenly. */
const LEAST_RUNNING = 4;

/** How long servers have more than twice their share of the running requests. */
class Overload {
  longestMs = 0;
  private readonly sinceMs = new Map<ReplayedServer, number>();

  constructor(private readonly servers: readonly ReplayedServer[]) {}

  look(nowMs: number): void {
    const mean = this.servers.reduce((sum, { inFlight }) => sum + inFlight, 0) / this.servers.length;
    for (const server of this.servers) {
      if (mean < LEAST_RUNNING || server.inFlight <= 2 * mean) this.sinceMs.delete(server);
      else {
        const sinceMs = this.sinceMs.get(server) ?? nowMs;
        this.sinceMs.set(server, sinceMs);
        this.longestMs = Math.max(this.longestMs, nowMs - sinceMs);
      }
    }
  }
}

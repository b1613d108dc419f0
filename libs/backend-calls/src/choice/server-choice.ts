import { mixed } from '@svc/runtime';
import { type CallWork, type ServerWork, uncachedTokens } from './server-work.js';

/** A server that may be chosen. */
export interface ChoosableServer {
  readonly work: ServerWork;
  /** A hash of its name. */
  readonly seed: number;
  readonly weight: number;
  readonly inFlight: number;
}

/** The speed of all servers before any measurement: 8,000 tokens per second. */
const FIRST_SPEED = 8;
const FIRST_TOKENS = 8_192;

/** A running call slows the next ones down by as much as about this many tokens of a prompt do. */
const RUNNING_TOKENS = 256;

/**
 * A token that another server has in its cache and this one has not delays also those that come later, and
 * takes the place of others in the cache. So it counts more than one that others have asked for.
 */
const COMPUTED_WEIGHT = 2;

/** It counts twice as much if each server has this many tokens to compute, so that little is done twice. */
const BACKLOG_TOKENS = 24_000;

/** Servers whose cost is this much higher than that of the best one are as good. */
const EQUAL_MS = 10;
const EQUAL_SHARE = 0.15;

/**
 * A server with this many times its share of the running calls comes after the others, if these are more than
 * a few: the calls of one account with one prompt don't fill it while others are idle.
 */
const MOST_SHARE = 1.8;
const FEW_CALLS = 8;
const OVER_MS = 1e9;

/** Of more servers a sample is compared. */
const MOST_COMPARED = 16;

interface Rated<One> {
  readonly server: One;
  readonly costMs: number;
  /** Among the best ones, the highest is called first. */
  rank: number;
}

/**
 * Orders servers by what a call costs there, in time: the tokens that each has to compute before, and those
 * of the prompt that are not in its cache, by its speed. Among equals a key decides or, without one, chance,
 * both in proportion to the weights.
 */
export function ordered<One extends ChoosableServer>(
  servers: readonly One[],
  work: CallWork,
  nowMs: number,
): readonly One[] {
  const compared = servers.length > MOST_COMPARED ? sample(servers, work) : servers;
  const rated = rate(compared, work, nowMs);
  let best = Number.POSITIVE_INFINITY;
  for (const { costMs } of rated) best = Math.min(best, costMs);
  const equalMs = work.isKeyed ? Number.POSITIVE_INFINITY : best * (1 + EQUAL_SHARE) + EQUAL_MS;
  for (const one of rated) if (one.costMs <= equalMs) one.rank = rankOf(one.server, work.key);
  rated.sort((a, b) => b.rank - a.rank || a.costMs - b.costMs);
  const order = rated.map(({ server }) => server);
  if (compared !== servers) for (const one of servers) if (!order.includes(one)) order.push(one);
  return order;
}

function rate<One extends ChoosableServer>(
  servers: readonly One[],
  work: CallWork,
  nowMs: number,
): Rated<One>[] {
  const sum = { tokens: FIRST_TOKENS, ms: FIRST_TOKENS / FIRST_SPEED };
  let weights = 0;
  let running = 0;
  let ahead = 0;
  let leastMs = Number.POSITIVE_INFINITY;
  for (const { work: each, weight, inFlight } of servers) {
    each.addSpeed(sum, nowMs);
    weights += weight;
    leastMs = Math.min(leastMs, each.leastMs);
    running += inFlight;
    ahead += each.ahead(nowMs);
  }
  const common = sum.tokens / sum.ms;
  const atLeastMs = leastMs === Number.POSITIVE_INFINITY ? 0 : leastMs;
  const computed = COMPUTED_WEIGHT * (1 + ahead / servers.length / BACKLOG_TOKENS);
  return servers.map((server) => {
    const { weight, inFlight } = server;
    const speed = server.work.speed(common, nowMs);
    server.work.expected = { speed, leastMs: atLeastMs };
    const known = server.work.knownBlocks(work);
    const share = weight / weights;
    const isOver = inFlight >= Math.max(FEW_CALLS, MOST_SHARE * share * running);
    // One token more, so that a weight near zero counts at an idle server too.
    const before = server.work.ahead(nowMs) + inFlight * RUNNING_TOKENS + 1;
    const beforeMs = before / (speed * share * servers.length);
    const costMs = beforeMs + (computed * uncachedTokens(work, known)) / speed;
    return { server, costMs: isOver ? costMs + OVER_MS : costMs, rank: -1 };
  });
}

/** Those that have the prompt's beginning, as far as possible, and two by chance. */
function sample<One extends ChoosableServer>(servers: readonly One[], work: CallWork): readonly One[] {
  const some = new Set<One>();
  const beginning = { ...work, blocks: work.blocks.subarray(0, 1) };
  for (const server of servers)
    if (some.size < MOST_COMPARED - 2 && server.work.knownBlocks(beginning) > 0) some.add(server);
  for (const _ of [1, 2]) {
    const by = servers[Math.floor(Math.random() * servers.length)];
    if (by) some.add(by);
  }
  const preferred = highest(servers, work.key);
  if (preferred) some.add(preferred);
  return [...some];
}

function highest<One extends ChoosableServer>(
  servers: readonly One[],
  key: number | undefined,
): One | undefined {
  let best: One | undefined;
  let most = -1;
  for (const server of servers) {
    const rank = rankOf(server, key);
    if (rank <= most) continue;
    most = rank;
    best = server;
  }
  return best;
}

/**
 * Weighted rendezvous hashing: the highest rank is drawn in proportion to the weights, and is the same for
 * the same key, in every process.
 */
function rankOf({ seed, weight }: ChoosableServer, key: number | undefined): number {
  const draw = key === undefined ? Math.random() : ((mixed(key ^ seed) >>> 0) + 0.5) / 2 ** 32;
  return -weight / Math.log(draw || Number.MIN_VALUE);
}

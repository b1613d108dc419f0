import { describe, expect, it } from 'vitest';
import { costPolicy, fixedPolicy, keyPolicy, routerPolicy } from '../../test/policies.js';
import {
  type Arrival,
  type Policy,
  ReplayedServer,
  type Replayed,
  arrivalsOf,
  replay,
} from '../../test/replay.js';
import { hashOf } from '@svc/runtime';
import { type ChoosableServer, ordered } from './server-choice.js';
import { NO_WORK, ServerWork } from './server-work.js';

const serversOf = (paces: readonly number[] = Array<number>(8).fill(1)): ReplayedServer[] =>
  paces.map((pace) => new ReplayedServer(pace));

function replayed(
  arrivals: readonly Arrival[],
  policyOf: (servers: readonly ReplayedServer[], arrivals: readonly Arrival[]) => Policy,
  servers = serversOf(),
): Replayed {
  return replay(arrivals, servers, policyOf(servers, arrivals));
}

describe('prompts with a long beginning for each of 150 accounts, at eight servers', () => {
  it.each([
    { perSecond: 24, least: 0.9, load: 'half of their load' },
    { perSecond: 40, least: 0.8, load: 'nine tenths of it' },
  ])('find $least of the cached tokens of the best fixed places, at $load', ({ perSecond, least }) => {
    const arrivals = arrivalsOf({ seed: 1, perSecond, hotShare: 0, seconds: 60 });
    const best = replayed(arrivals, fixedPolicy);
    const own = replayed(arrivals, routerPolicy);
    expect(own.hitShare).toBeGreaterThan(least * best.hitShare);
    expect(own.longestOverMs).toBeLessThan(5_000);
    expect(own.firstTokenMs(0.99)).toBeLessThan(replayed(arrivals, keyPolicy).firstTokenMs(0.99));
  });

  it('keep the first token early and the servers even when one account sends two fifths', () => {
    const arrivals = arrivalsOf({ seed: 2, perSecond: 24, hotShare: 0.4, seconds: 100 });
    const own = replayed(arrivals, routerPolicy);
    expect(own.firstTokenMs(0.99)).toBeLessThan(1.3 * replayed(arrivals, costPolicy).firstTokenMs(0.99));
    expect(own.longestOverMs).toBeLessThan(5_000);
    expect(replayed(arrivals, keyPolicy).longestOverMs).toBeGreaterThan(20_000);
  });

  it('go to a server that is slower than the others less often', () => {
    const arrivals = arrivalsOf({ seed: 3, perSecond: 24, hotShare: 0, seconds: 40 });
    const { shares } = replayed(arrivals, routerPolicy, serversOf([0.25, 1, 1, 1, 1, 1, 1, 1]));
    expect(shares[0]).toBeLessThan(0.08);
  });
});

interface NamedServer extends ChoosableServer {
  inFlight: number;
  readonly name: string;
}

function named(weights: Readonly<Record<string, number>>): NamedServer[] {
  return Object.entries(weights).map(([name, weight]) => ({
    name,
    weight,
    work: new ServerWork(),
    seed: hashOf(name),
    inFlight: 0,
  }));
}

const firstOf = (servers: readonly NamedServer[], work = NO_WORK, nowMs = 0): NamedServer | undefined =>
  ordered(servers, work, nowMs)[0];

describe('a call without a prompt', () => {
  it('goes to idle servers in proportion to their weights', () => {
    const servers = named({ a: 3, b: 1 });
    const count = Array.from({ length: 4_000 }, () => firstOf(servers)?.name).filter(
      (name) => name === 'a',
    ).length;
    expect(count).toBeGreaterThan(2_800);
    expect(count).toBeLessThan(3_200);
  });

  it('goes to the server with the fewest running calls for its weight', () => {
    const [a, b] = named({ a: 3, b: 1 }) as [NamedServer, NamedServer];
    Object.assign(a, { inFlight: 4 });
    Object.assign(b, { inFlight: 2 });
    expect(firstOf([a, b])).toBe(a);
    a.inFlight = 10;
    expect(firstOf([a, b])).toBe(b);
  });

  it('goes to the same server for the same key, and among several models to different ones', () => {
    const servers = named({ a: 1, b: 1, c: 1, d: 1 });
    const names = Array.from({ length: 40 }, (_, at) => {
      const work = { ...NO_WORK, key: hashOf(`key ${at}`) };
      expect(firstOf(servers, work)).toBe(firstOf(servers, work));
      return firstOf(servers, work)?.name;
    });
    expect(new Set(names).size).toBe(4);
  });

  it('goes to the server of its key although that is busy, if the key alone decides', () => {
    const servers = named({ a: 1, b: 1 });
    const work = { ...NO_WORK, key: hashOf('key'), isKeyed: true };
    const first = firstOf(servers, work);
    Object.assign(first ?? {}, { inFlight: 100 });
    expect(firstOf(servers, work)).toBe(first);
    expect(firstOf(servers, { ...work, isKeyed: false })).not.toBe(first);
  });

  it('gets all servers, each once, however many there are', () => {
    const servers = named(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`server-${at}`, 1])));
    const order = ordered(servers, NO_WORK, 0);
    expect(order.map(({ name }) => name).toSorted()).toEqual(servers.map(({ name }) => name).toSorted());
  });
});

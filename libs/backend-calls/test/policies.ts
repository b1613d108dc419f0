import { hashOf } from '@svc/runtime';
import { promptOf } from '../src/choice/prompt.js';
import { type ChoosableServer, ordered } from '../src/choice/server-choice.js';
import { ServerWork, type WorkingCall } from '../src/choice/server-work.js';
import type { Arrival, Policy, ReplayedServer } from './replay.js';
import { random } from './seeded.js';

/** The router's own choice. */
export function routerPolicy(servers: readonly ReplayedServer[]): Policy {
  const choosable = servers.map((server, at): ChoosableServer & { readonly at: number } => ({
    at,
    seed: hashOf(`server ${at}`),
    weight: 1,
    work: new ServerWork(),
    get inFlight() {
      return server.inFlight;
    },
  }));
  const calls = new Map<Arrival, WorkingCall>();
  const workAt = (at: number): ServerWork => choosable[at]?.work ?? new ServerWork();
  return {
    choose: (arrival) => {
      const account = hashOf(String(arrival.account));
      const prompt = promptOf(arrival.body, account);
      const work = { ...prompt, key: account, isSilent: false, isKeyed: false };
      const [first] = ordered(choosable, work, arrival.atMs);
      const at = first?.at ?? 0;
      calls.set(arrival, workAt(at).begin(work, arrival.atMs));
      return at;
    },
    answered: (at, nowMs, arrival) => {
      const call = calls.get(arrival);
      if (call) workAt(at).answered(call, nowMs);
    },
    ended: (at, counted, arrival) => {
      const call = calls.get(arrival);
      calls.delete(arrival);
      if (call) workAt(at).reported(call, counted);
    },
  };
}

/** The least expected time to the first token, by all that servers have, which no router knows. */
export const costPolicy = (servers: readonly ReplayedServer[]): Policy => ({
  choose: ({ atMs, parts }) =>
    least(
      servers.map(
        (server) =>
          Math.max(0, server.freeMs - atMs) +
          server.computeMs(parts, server.cached(parts)) +
          server.inFlight / 1e3,
      ),
    ),
});

/** Each account at one server, so that all have the same number of requests: known only afterwards. */
export function fixedPolicy(servers: readonly ReplayedServer[], arrivals: readonly Arrival[]): Policy {
  const counts = new Map<number, number>();
  for (const { account } of arrivals) counts.set(account, (counts.get(account) ?? 0) + 1);
  const sums = servers.map(() => 0);
  const serverOf = new Map<number, number>();
  for (const [account, count] of [...counts].toSorted(([, a], [, b]) => b - a)) {
    const at = least(sums);
    serverOf.set(account, at);
    sums[at] = (sums[at] ?? 0) + count;
  }
  return { choose: ({ account }) => serverOf.get(account) ?? 0 };
}

export function randomPolicy(servers: readonly ReplayedServer[]): Policy {
  const next = random(5);
  return { choose: () => Math.floor(next() * servers.length) };
}

export function turnPolicy(servers: readonly ReplayedServer[]): Policy {
  let turn = 0;
  return { choose: () => (turn += 1) % servers.length };
}

/** Always the same server for an account, by a hash. */
export const keyPolicy = (servers: readonly ReplayedServer[]): Policy => ({
  choose: ({ account }) => least(servers.map((_, at) => hashOf(`${account} ${at}`) >>> 0)),
});

function least(values: readonly number[]): number {
  return values.indexOf(Math.min(...values));
}

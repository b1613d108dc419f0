// The gateways take turns, so that a slow minute of the machine affects all of them.
import { runLoad } from './load.mjs';
import { runStreams } from './streams.mjs';

/**
 * Before the first round, each gateway gets this much of the same load, or what its `warmUp` says, so that
 * its code is compiled. This service takes twice the CPU per request in its first seconds, and settles after
 * about ten.
 */
const WARM_UP_SECONDS = { usual: 10, quick: 3 };
const WARM_UP_STREAMS = 16;

/** Each gateway with `rounds` and their `median`, or with the problem that left it out. */
export async function runLoadRounds(place, { gateways, load, options, say, rate }) {
  const { connections, seconds, quick } = options;
  const run = async (gateway, forSeconds) => {
    const result = await runLoad(place, load, { gateway, connections, seconds: forSeconds, rate });
    // A load without a rate ends by cutting off the requests in progress.
    gateway.books?.loadEnded(result.answers, rate === undefined ? connections : result.faults);
    return result;
  };
  const running = gateways.filter(({ problem }) => !problem);
  for (const gateway of running) {
    say(`warming up ${gateway.name}`);
    const { warmUp = WARM_UP_SECONDS } = gateway;
    await run(gateway, quick ? warmUp.quick : warmUp.usual);
  }
  const rounds = await inTurn(running, options.rounds, (gateway, round) => {
    say(`load, round ${round} of ${options.rounds}: ${gateway.name}`);
    return run(gateway, seconds);
  });
  return gateways.map((gateway) => {
    const own = rounds.get(gateway);
    return own ? { ...gateway, rounds: own, median: medians(own), faults: sum(own, 'faults') } : gateway;
  });
}

/** Each gateway with `rounds`, their `median`, and the number of complete streams, including the warm-up. */
export async function runStreamRounds({ gateways, options, say }) {
  const warm = new Map();
  for (const gateway of gateways) {
    say(`warming up streams of ${gateway.name}`);
    warm.set(gateway, await runStreams({ gateway, streams: Math.min(WARM_UP_STREAMS, options.streams) }));
  }
  const rounds = await inTurn(gateways, options.rounds, (gateway, round) => {
    say(`streams, round ${round} of ${options.rounds}: ${gateway.name}`);
    return runStreams({ gateway, streams: options.streams });
  });
  return gateways.map((gateway) => {
    const all = [warm.get(gateway), ...rounds.get(gateway)];
    return {
      ...gateway,
      rounds: rounds.get(gateway),
      median: medians(rounds.get(gateway)),
      whole: sum(all, 'whole'),
      opened: sum(all, 'opened'),
      fault: all.find(({ fault }) => fault)?.fault,
    };
  });
}

/** Runs every gateway once per round: a map of their results. */
async function inTurn(gateways, rounds, run) {
  const results = new Map(gateways.map((gateway) => [gateway, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const gateway of gateways) results.get(gateway).push(await run(gateway, round));
  }
  return results;
}

/** The median of each figure that all rounds have. */
export function medians(rounds) {
  const names = Object.keys(rounds[0]).filter((name) =>
    rounds.every((round) => Number.isFinite(round[name])),
  );
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name]))]));
}

/** The middle value, or the mean of the two in the middle. */
export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function sum(rounds, name) {
  return rounds.reduce((total, round) => total + round[name], 0);
}

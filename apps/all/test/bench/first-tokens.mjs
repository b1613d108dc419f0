// The time to the first token that this service adds to that of a bare proxy, at half of the load that it can
// serve.
import { steadyLoad } from './load.mjs';
import { fixed, table } from './report.mjs';
import { SHORT_PATH, shortQuestion } from './responses.mjs';
import { median, runLoadRounds } from './rounds.mjs';

const TARGET_MS = 1;
const LOAD_SHARE = 0.5;
const WARM_UP_SECONDS = { usual: 3, quick: 1 };

/**
 * Streams that the backend sends in one piece: first as many as this service can serve, then half of them, to
 * both gateways.
 */
export async function runFirstTokens(place, { ours, bare, load, options, say }) {
  const streams = { body: shortQuestion, warmUp: WARM_UP_SECONDS };
  const service = { ...ours, ...streams };
  const proxy = { ...bare, ...streams, url: bare.url.replace('/v1/', `${SHORT_PATH}/v1/`) };
  const once = { ...options, rounds: 1 };
  const [most] = await runLoadRounds(place, { gateways: [service], load, options: once, say });
  const rate = most.median.perSecond * LOAD_SHARE;
  const gateways = [service, proxy];
  const measured = await runLoadRounds(place, { gateways, load: steadyLoad(), options, say, rate });
  const [own, other] = measured.map(({ rounds }) => rounds.map(({ firstByteP99Ms }) => firstByteP99Ms));
  return {
    rate,
    addedMs: median(own.map((ms, round) => ms - other[round])),
    faults: most.faults + measured[0].faults + measured[1].faults,
    gateways: measured.map(({ name, rounds, median: figures }) => ({ name, rounds, median: figures })),
  };
}

export function firstTokenText({ rate, addedMs, faults, gateways }) {
  const rows = gateways.map(({ name, median: { firstByteP50Ms, firstByteP99Ms, cpuMicros, coreShare } }) => [
    name,
    fixed(firstByteP50Ms, 2),
    fixed(firstByteP99Ms, 2),
    fixed(cpuMicros, 0),
    fixed(coreShare, 2),
  ]);
  return [
    `First tokens  ${fixed(rate, 0)} streams/s at random moments, half of what this service can serve; medians`,
    ...table(['', 'p50 ms', 'p99 ms', 'CPU us/stream', 'of core'], rows),
    `  added p99 ${fixed(addedMs, 2)} ms; target <= ${TARGET_MS}: ${addedMs <= TARGET_MS ? 'ok' : 'ABOVE TARGET'}; ${faults} faults`,
  ].join('\n');
}

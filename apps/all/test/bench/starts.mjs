// How long this service takes to start on the data of an earlier run, and its memory without load.
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMb } from './cpu.mjs';
import { prove, ready } from './gateways/gateways.mjs';
import { startOurs } from './gateways/ours.mjs';
import { medians } from './rounds.mjs';

const STARTS = 3;
/** Work of the start that is not finished with its first completion. */
const IDLE_MS = 3_000;

/** Medians of a few starts: milliseconds to the first completion, at most 50 too many, and idle memory. */
export async function runStarts(place, { instantUrl, streamUrl, say }) {
  const options = { instantUrl, streamUrl, name: 'starting' };
  say('starts of this service');
  const first = ready(place, await startOurs(place, options));
  await prove(first);
  const { headers } = first;
  await place.stop(first.child);
  const starts = [];
  for (let start = 0; start < STARTS; start += 1) {
    const startedMs = performance.now();
    const { child } = await startOurs(place, { ...options, headers });
    const startMs = performance.now() - startedMs;
    await sleep(IDLE_MS);
    starts.push({ startMs, idleMb: residentMb(child.pid) });
    await place.stop(child);
  }
  return medians(starts);
}

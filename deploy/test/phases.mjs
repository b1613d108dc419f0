// Reports the progress and timing of the chart's tests: builds and starts of whole servers take minutes.
import { writeSync } from 'node:fs';

const STDERR = 2;
const seconds = (sinceMs) => `${((performance.now() - sinceMs) / 1_000).toFixed(1)} s`;
const say = (text) => writeSync(STDERR, `  ${text}\n`);

/** Runs the work, and reports its start and its duration. */
export async function phase(what, work) {
  const startMs = performance.now();
  say(`${what} …`);
  try {
    const result = await work();
    say(`${what}: ${seconds(startMs)}`);
    return result;
  } catch (error) {
    say(`${what}: failed after ${seconds(startMs)}`);
    throw error;
  }
}

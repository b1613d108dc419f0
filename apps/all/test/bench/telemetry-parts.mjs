// What telemetry costs a completion that does nothing else: a difference that is not lost in the noise of a whole request.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** So many that it is the way of a request that is measured, and not what comes once a second, nor a process that wakes up. */
const PER_SECOND = 30_000;

async function start(place, env) {
  const child = fork(join(import.meta.dirname, 'telemetry-program.mjs'), { env: { ...process.env, ...env } });
  place.atEnd(async () => void child.kill());
  await once(child, 'message');
  return async (seconds) => {
    child.send({ perSecond: PER_SECOND, seconds });
    const [{ micros }] = await once(child, 'message');
    return micros;
  };
}

/** Microseconds of CPU that telling adds to a completion, for each round. One that tells and one that does not take turns. */
export async function telemetryMicros(place, { env, rounds, seconds }) {
  const [off, on] = await Promise.all([start(place, {}), start(place, env)]);
  await Promise.all([off(seconds), on(seconds)]);
  const found = [];
  for (let round = 0; round < rounds; round += 1) found.push(-(await off(seconds)) + (await on(seconds)));
  return found;
}

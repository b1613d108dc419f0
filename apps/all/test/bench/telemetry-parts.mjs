// What telemetry costs a completion that does nothing else: a difference that is not lost in the noise of a whole request.
const PROGRAM = new URL('./telemetry-program.mjs', import.meta.url);

/** So many that it is the way of a request that is measured, and not what comes once a second, nor a process that wakes up. */
const PER_SECOND = 30_000;

/** A completion may take a machine that is busy longer than the rate asks for. */
const GRACE_MS = 30_000;

async function start(place, name, env) {
  const child = await place.startProgram(`telling-${name}`, PROGRAM, { env });
  return async (seconds) => {
    const { micros } = await place.ask(child, { perSecond: PER_SECOND, seconds }, seconds * 1_000 + GRACE_MS);
    return micros;
  };
}

/** Microseconds of CPU that telling adds to a completion, for each round. One that tells and one that does not take turns. */
export async function telemetryMicros(place, { env, rounds, seconds }) {
  const [off, on] = await Promise.all([start(place, 'off', {}), start(place, 'on', env)]);
  await Promise.all([off(seconds), on(seconds)]);
  const found = [];
  for (let round = 0; round < rounds; round += 1) found.push(-(await off(seconds)) + (await on(seconds)));
  return found;
}

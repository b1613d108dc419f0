// The cost of telemetry for a completion without other work: a difference that is not lost in the noise of a
// full request.
const PROGRAM = new URL('./program.mjs', import.meta.url);

/**
 * High enough to measure the path of a request, and not work that happens every second or the wake-up of a
 * process.
 */
const PER_SECOND = 30_000;

/** On a busy machine a completion may take longer than the rate allows. */
const GRACE_MS = 30_000;

async function start(place, name, env) {
  const child = await place.startProgram(`telling-${name}`, PROGRAM, { env });
  return async (seconds) => {
    const { micros } = await place.ask(child, { perSecond: PER_SECOND, seconds }, seconds * 1_000 + GRACE_MS);
    return micros;
  };
}

/**
 * Microseconds of CPU that telemetry adds to a completion, for each round. Runs with and without telemetry
 * alternate.
 */
export async function telemetryMicros(place, { env, rounds, seconds }) {
  const [off, on] = await Promise.all([start(place, 'off', {}), start(place, 'on', env)]);
  await Promise.all([off(seconds), on(seconds)]);
  const found = [];
  for (let round = 0; round < rounds; round += 1) found.push(-(await off(seconds)) + (await on(seconds)));
  return found;
}

// The steps of .ci/run, all or the named ones. Runs before `npm ci`, so it needs nothing but Node 20.
import { Steps } from './run-steps.mjs';

/** CI aborts after 90 minutes without a result, so this run must end well before. */
const TOTAL_SECONDS = 80 * 60;

const steps = new Steps({ seconds: TOTAL_SECONDS });

/** A server or language runtime that tests need; the function is in .ci/run. */
const need = (name, otherwise) =>
  steps.program({ name, seconds: 240, command: ['bash', '-c', `need_${name}`], otherwise });

const STEPS = {
  // The registry sometimes stops in the middle of a response, which npm waits for too long.
  install: (name) =>
    steps.program({ name, seconds: 600, command: ['bash', '-c', 'timeout 280 npm ci || npm ci'] }),
  redis: (name) => need(name, 'TESTS THAT NEED REDIS ARE SKIPPED'),
  prometheus: (name) => need(name, 'ALERT RULES ARE NOT TESTED'),
  python: (name) => need(name, 'CLIENTS IN PYTHON MAY BE SKIPPED'),
  ffmpeg: (name) => need(name, 'MEASURED AUDIO IS NOT COMPARED WITH A DECODER'),
  chromium: (name) => need(name, 'THE CONSOLE IS NOT TESTED IN A BROWSER'),
  check: (name) => steps.counted({ name, seconds: 600, script: 'check' }),
  test: (name) => steps.tests({ name, seconds: 1_200, script: 'test' }),
  more: (name) => steps.tests({ name, seconds: 1_200, script: 'test:more' }),
  clients: (name) => steps.tests({ name, seconds: 900, script: 'test:clients' }),
  console: (name) => steps.tests({ name, seconds: 600, script: 'test:console' }),
  cluster: (name) => steps.tests({ name, seconds: 2_700, script: 'test:cluster:short' }),
  helm: (name) => steps.tests({ name, seconds: 1_500, script: 'test:helm' }),
};

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(STEPS, name));
if (unknown.length > 0) {
  console.error(`Unknown step ${unknown.join(', ')}. The steps are ${Object.keys(STEPS).join(', ')}.`);
  process.exit(2);
}
for (const name of named.length > 0 ? named : Object.keys(STEPS)) {
  const result = await STEPS[name](name);
  if (name === 'install' && !result) break;
}
process.exitCode = steps.finish() ? 0 : 1;

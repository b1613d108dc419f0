// The CPU time of each step of a request and of a streamed chunk, and the turns of the event loop, from one
// profile of this service.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startInstantBackend, startStreamBackend } from '../backends/backend.mjs';
import { prove, ready } from '../gateways/gateways.mjs';
import { findLoad, runLoad } from '../load.mjs';
import { startOurs } from '../gateways/ours.mjs';
import { readProfile, stepShares } from './profile.mjs';
import { runStreams } from '../streams.mjs';
import { turnArgs, turnsOf, turnsText } from './turns.mjs';

const PROGRAM = fileURLToPath(new URL('./unbundled-program.mjs', import.meta.url));
const WARM_UP_SECONDS = 10;
/** Smaller shares are summed up. */
const LEAST_SHARE = 0.002;

/** Prints the steps, those of a request first, and the turns. Returns false if a stream was incomplete. */
export async function benchSteps(place, { options, say }) {
  const { connections, seconds, streams, json } = options;
  const folder = options.profile ?? join(place.dir, 'profile');
  mkdirSync(folder, { recursive: true });
  const [instant, stream] = [await startInstantBackend(place), await startStreamBackend(place)];
  const urls = { instantUrl: instant.url, streamUrl: stream.url };
  const turnsPath = join(place.dir, 'turns.json');
  const how = { profile: folder, program: PROGRAM, nodeArgs: turnArgs(turnsPath) };
  const gateway = ready(place, await startOurs(place, { ...urls, ...how }));
  await prove(gateway);
  const load = findLoad();
  say('warming up');
  await runLoad(place, load, { gateway, connections, seconds: WARM_UP_SECONDS });
  say('requests');
  const requests = await during(() => runLoad(place, load, { gateway, connections, seconds }));
  say('streams');
  await runStreams({ gateway, streams });
  const chunks = await during(() => runStreams({ gateway, streams }));
  await place.stop(gateway.child);
  const profile = readProfile(folder);
  const found = {
    requests: stepsOf(profile, requests),
    chunks: stepsOf(profile, chunks),
    turns: turnsOf(turnsPath, profile, requests),
  };
  console.log(stepText('A request', found.requests));
  console.log(stepText('A chunk of a stream', found.chunks));
  console.log(turnsText(found.turns));
  if (json) writeFileSync(json, `${JSON.stringify(found, null, 2)}\n`);
  return chunks.result.fault === undefined;
}

/** Microseconds of the monotonic clock, which V8 uses for profiles too. */
const nowMicros = () => Number(process.hrtime.bigint() / 1_000n);

async function during(work) {
  const fromMicros = nowMicros();
  const result = await work();
  return { result, fromMicros, toMicros: nowMicros() };
}

function stepsOf(profile, { result: { cpuMicros }, ...times }) {
  const steps = stepShares(profile, times).map(({ step, share }) => ({
    step,
    share,
    micros: share * cpuMicros,
  }));
  return { cpuMicros, steps };
}

function stepText(title, { cpuMicros, steps }) {
  const rest = steps.filter(({ share }) => share < LEAST_SHARE);
  const restShare = rest.reduce((sum, { share }) => sum + share, 0);
  const rows = [
    ...steps.filter(({ share }) => share >= LEAST_SHARE),
    { step: 'the rest', share: restShare, micros: restShare * cpuMicros },
  ].map(
    ({ step, share, micros }) =>
      `  ${step.padEnd(32)}${micros.toFixed(2).padStart(9)} us${(share * 100).toFixed(1).padStart(7)} %`,
  );
  return [`${title}: ${cpuMicros.toFixed(1)} us of CPU`, ...rows, ''].join('\n');
}

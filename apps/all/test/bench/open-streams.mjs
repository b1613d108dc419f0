// Many streams open at once in one process of this service: its memory for each, the time to the first byte,
// and whether all of them are finished after SIGTERM.
import { spawnSync } from 'node:child_process';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHoldingBackend, startInstantBackend } from './backends/backend.mjs';
import { residentMb, untilQuiet } from './cpu.mjs';
import { prove, ready } from './gateways/gateways.mjs';
import { startOurs } from './gateways/ours.mjs';
import { fixed } from './report.mjs';
import { readStream } from './streams.mjs';

/** The most memory of a stream, and how much each has of its own: half before SIGTERM, half after it. */
const TARGET_KB = 40;
const TEXTS = 20;

/** Streams that are opened before the first measurement, so that the code is loaded and compiled. */
const WARM_UP = 300;
/** Streams that wait for their first byte at the same time. */
const AT_ONCE = 64;
const QUIET_MS = 10_000;
/** Time limits: opening one stream on a busy machine, and finishing all of them. */
const OPEN_MS = 20;
const FINISH_MS = 120_000;
/** A stream has two connections, and the process other open files. */
const OTHER_FILES = 1_000;

/** How long a run takes at most. */
export const openStreamsMs = (streams) => 120_000 + streams * OPEN_MS + 2 * FINISH_MS;

/** Runs everything and prints the report. Returns false if a stream or a charge was lost. */
export async function benchOpenStreams(place, { options, say }) {
  const { openStreams: streams } = options;
  requireFiles(2 * streams + OTHER_FILES);
  const backend = await startHoldingBackend(place, TEXTS);
  const { url: instantUrl } = await startInstantBackend(place);
  const urls = { instantUrl, streamUrl: backend.url, maxInFlight: 2 * streams, profile: options.profile };
  const env = { SVC_DRAIN_MS: String(FINISH_MS) };
  say('starting this service');
  const ours = ready(place, await startOurs(place, { ...urls, env }));
  await prove(ours);
  const { pid } = ours.child;

  say('warming up');
  const warm = await openAll(ours, Math.min(WARM_UP, streams), () => backend.process.send('finish'));
  await untilQuiet(pid, QUIET_MS);
  const idleMb = residentMb(pid);
  say(`opening ${streams} streams`);
  let openMb;
  const answers = await openAll(ours, streams, async () => {
    await untilQuiet(pid, QUIET_MS);
    openMb = residentMb(pid);
    say('SIGTERM');
    ours.child.process.kill('SIGTERM');
    await sleep(1_000);
    backend.process.send('finish');
  });
  await Promise.race([ours.child.ended, sleep(FINISH_MS, undefined, { ref: false })]);
  const { exitCode } = ours.child.process;

  say('auditing');
  const again = await startOurs(place, urls);
  const whole = answers.filter(({ fault }) => fault === undefined).length;
  const charges = 1 + warm.length + streams;
  const audit = await again.operator.auditAfter(charges);
  const kb = ((openMb - idleMb) * 1_024) / streams;
  const firsts = answers.map(({ firstByteMs }) => firstByteMs).toSorted((a, b) => a - b);
  const fault = answers.find((answer) => answer.fault)?.fault;
  console.log(
    [
      `Open streams  ${streams}, of which ${AT_ONCE} are opened at once`,
      `  memory        ${fixed(idleMb, 0)} MB before, ${fixed(openMb, 0)} MB with all: ${fixed(kb, 1)} KB each; target <= ${TARGET_KB}: ${kb <= TARGET_KB ? 'ok' : 'ABOVE TARGET'}`,
      `  first byte    p50 ${fixed(firsts[streams >> 1], 0)} ms, p99 ${fixed(firsts[Math.floor(streams * 0.99)], 0)} ms`,
      `  at SIGTERM    ${whole} of ${streams} complete, exit code ${exitCode}${fault ? `; first fault: ${fault}` : ''}`,
      `  audit         ${audit.ok ? 'ok' : 'WRONG'}, ${audit.charges} charges for ${charges} completions`,
    ].join('\n'),
  );
  return whole === streams && exitCode === 0 && audit.ok && audit.charges === charges;
}

/**
 * Opens streams, a few at a time, calls `onOpen` once all have begun, and reads them to their end.
 */
async function openAll(gateway, streams, onOpen) {
  const agent = new Agent({ keepAlive: false, maxSockets: streams });
  const deadlineMs = streams * OPEN_MS + FINISH_MS;
  const answers = [];
  let left = streams;
  const openSome = async () => {
    while (left > 0) {
      left -= 1;
      await new Promise((begun) => {
        const answer = readStream(agent, gateway, { texts: TEXTS, deadlineMs, onFirstByte: begun });
        answers.push(answer);
        void answer.then(begun);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, openSome));
  // The first half of the last streams takes a moment.
  await sleep(1_000);
  await onOpen();
  return Promise.all(answers);
}

/** Processes inherit this limit. Throws if it is too low. */
function requireFiles(files) {
  const limit = spawnSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).stdout.trim();
  if (limit !== 'unlimited' && Number(limit) < files)
    throw new Error(
      `this many streams need ${files} open files, and the limit is ${limit}: ulimit -n ${files}`,
    );
}

// This service under steady load for a long time, with everything enabled: whether its memory or its number
// of open files grows. See README.md.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { counts, readCommandLine } from '../command-line.mjs';
import { startInstantBackend, startStreamBackend } from '../backends/backend.mjs';
import { prove, ready } from '../gateways/gateways.mjs';
import { runLoad, steadyLoad } from '../load.mjs';
import { describeMachine } from '../machine.mjs';
import { Books } from '../money.mjs';
import { startOurs } from '../gateways/ours.mjs';
import { Workplace } from '../processes.mjs';
import { fixed, headText, moneyText } from '../report.mjs';
import { question, streamQuestion } from '../responses.mjs';
import { slopeOf } from './slope.mjs';
import { TelemetrySink } from '../telemetry/sink.mjs';

const INSIDE = new URL('./memory-inside.mjs', import.meta.url);

const TARGET_MIB_PER_HOUR = 2;
const WARM_UP_SHARE = 1 / 3;
/** The first samples of a load are left out: the connections that a pause has closed open again. */
const RAMP_SHARE = 0.1;
/** Half of the requests are streams of this number of chunks, which take a tenth of a second. */
const TEXTS = 20;
/** After this time without load, all idle connections are closed; those to the database take 30 s. */
const IDLE_MS = 45_000;
/** Each has one point of the line: the least memory of its samples. */
const INTERVALS = 20;
const MIB = 1_024 * 1_024;

/**
 * Runs the load and prints the report. Returns false if a request failed, files stay open, or money is lost.
 */
async function soak(place, { minutes, rate, nodeArgs }) {
  const [machine, backend] = [await describeMachine(place.cores), await startInstantBackend(place)];
  const urls = { instantUrl: backend.url, streamUrl: (await startStreamBackend(place, TEXTS)).url };
  const sink = await TelemetrySink.start();
  const path = join(place.dir, 'samples');
  const preload = ['--expose-gc', '--import', `${INSIDE.href}?file=${path}`];
  const started = await startOurs(place, { ...urls, env: sink.env, nodeArgs: [...preload, ...nodeArgs] });
  const gateway = { ...ready(place, started), bodies: [question, streamQuestion] };
  await prove(gateway);
  sink.scrape(gateway.metricsUrl);
  const books = await Books.open(gateway);
  const load = steadyLoad();
  const run = async (seconds) => {
    say(`${fixed(seconds, 0)} s of load`);
    const fromMs = Date.now();
    const result = await runLoad(place, load, { gateway, seconds, rate });
    // A failed request may have been charged.
    books.loadEnded(result.answers, result.faults);
    const [beginMs, endMs] = [fromMs + seconds * RAMP_SHARE * 1_000, fromMs + seconds * 1_000];
    const samples = samplesOf(path).filter(({ atMs }) => atMs >= beginMs && atMs < endMs);
    await sleep(IDLE_MS);
    const idle = samplesOf(path).filter(({ atMs }) => atMs > Date.now() - IDLE_MS / 2);
    return {
      ...result,
      samples,
      idleFiles: rangeOf(idle),
      idleBytes: Math.min(...idle.map(({ live }) => live)),
    };
  };
  const warmUp = await run(minutes * 60 * WARM_UP_SHARE);
  const measured = await run(minutes * 60 * (1 - WARM_UP_SHARE));
  sink.stop();
  await books.closeLoad();
  const money = await books.closeExact(gateway, 0);
  const options = { seconds: minutes * 60, rounds: 1 };
  console.log(`${headText({ options, machine, backend: backend.name, load: load.name })}\n`);
  console.log(`${soakText({ warmUp, measured, rate })}\n\n${moneyText(money)}`);
  return warmUp.faults + measured.faults === 0 && !hasMoreFiles(warmUp, measured) && money.ok;
}

function samplesOf(path) {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line));
}

function rangeOf(samples) {
  const counts = samples.map(({ files }) => files);
  return { least: Math.min(...counts), most: Math.max(...counts) };
}

/** Without load and its connections, more files are open than after the warm-up. */
const hasMoreFiles = (warmUp, measured) => measured.idleFiles.least > warmUp.idleFiles.most;

function soakText({ warmUp, measured, rate }) {
  const { samples } = measured;
  const files = rangeOf(samples);
  const verdict = hasMoreFiles(warmUp, measured) ? 'GROWS' : 'ok';
  const faults = warmUp.faults + measured.faults;
  return [
    `Soak  ${rate} requests/s, half of them streams; the first third is the warm-up`,
    `  requests     ${warmUp.answers + measured.answers} complete, ${faults} failed${faults ? `: ${warmUp.fault ?? measured.fault}` : ''}`,
    `  latency      p99 ${fixed(measured.p99Ms, 1)} ms, of the first byte ${fixed(measured.firstByteP99Ms, 1)} ms`,
    `  CPU          ${fixed(measured.cpuMicros, 0)} us/request`,
    `  resident     ${growthText(samples, 'rss')}`,
    `  live memory  ${growthText(samples, 'live')}`,
    `               without load ${fixed(warmUp.idleBytes / MIB, 1)} MiB before and ${fixed(measured.idleBytes / MIB, 1)} MiB after`,
    `  open files   ${files.least} to ${files.most}; without load ${warmUp.idleFiles.most} before and ${measured.idleFiles.least} after: ${verdict}`,
  ].join('\n');
}

/** A figure of the samples in MiB: the first, the last, and the slope of the line. */
function growthText(samples, figure) {
  const [first, last] = [samples[0].atMs, samples.at(-1).atMs + 1];
  const intervals = Object.values(
    Object.groupBy(samples, ({ atMs }) => Math.floor(((atMs - first) / (last - first)) * INTERVALS)),
  );
  const points = intervals.map((interval) => {
    const least = interval.reduce((a, b) => (b[figure] < a[figure] ? b : a));
    return [least.atMs / 3_600_000, least[figure] / MIB];
  });
  const { slope, least, most } = slopeOf(points);
  return [
    `${fixed(points[0][1], 1)} MiB at first, ${fixed(points.at(-1)[1], 1)} MiB at last;`,
    `${fixed(slope, 1)} MiB/h (${fixed(least, 1)} to ${fixed(most, 1)});`,
    `target < ${TARGET_MIB_PER_HOUR}: ${verdictOf({ slope, least, most })}`,
  ].join(' ');
}

function verdictOf({ slope, least, most }) {
  if (slope >= TARGET_MIB_PER_HOUR) return least < TARGET_MIB_PER_HOUR ? 'UNCERTAIN, above' : 'ABOVE TARGET';
  return most < TARGET_MIB_PER_HOUR ? 'ok' : 'uncertain, below';
}

/** Progress goes to stderr: stdout is the report. */
function say(text) {
  console.error(`… ${text}`);
}

const USAGE = `Usage: npm run bench:soak -- [options]

  --minutes N    duration of the load, of which the first third is the warm-up (30)
  --rate N       requests per second (500)
  --node OPTION  an option of Node for this service; may be repeated
`;

const options = readCommandLine(
  USAGE,
  {
    minutes: { type: 'string' },
    rate: { type: 'string' },
    node: { type: 'string', multiple: true, default: [] },
  },
  (values) => ({
    ...counts(values, { usual: { minutes: 30, rate: 500 }, most: { minutes: 1_440, rate: 10_000 } }),
    nodeArgs: values.node,
  }),
);
const place = await Workplace.open({ isPinned: true });
process.once('SIGINT', () => void place.close().then(() => process.exit(130)));
process.once('SIGTERM', () => void place.close().then(() => process.exit(143)));
try {
  process.exitCode = (await soak(place, options)) ? 0 : 1;
} finally {
  await place.close();
}

// Puts a gateway under load: one request after the other on each of many keep-alive connections.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childrenCpuMs, coresMs, cpuMs, mapped, minus, partsCpuMs, residentMb, untilQuiet } from './cpu.mjs';
import { versionOf } from './installed.mjs';

const STEADY_PROGRAM = new URL('./steady-load-program.mjs', import.meta.url);

/** A gateway may work after its responses for up to this time, which counts as well. */
const QUIET_MS = 10_000;

/** The load generator: wrk if it is installed, else autocannon. */
export function findLoad() {
  const wrk = versionOf('wrk', '-v');
  if (wrk === undefined) return { name: `autocannon ${autocannon().version}`, run: runAutocannon };
  return { name: /^wrk \S*/.exec(wrk)?.[0] ?? 'wrk', run: runWrk };
}

/**
 * A load generator that sends requests at random moments, at a fixed average rate, with as many connections
 * as that takes. With `autocannon -R` each connection sends its share of a second at once, so a gateway
 * alternates between full load and none. If the gateway has several `bodies`, they are sent in turn. The
 * result also has the time to the first byte.
 */
export const steadyLoad = () => ({ name: 'requests at random moments', run: runSteadily });

/**
 * One run against one gateway: responses, faults, requests/s, latency in ms, microseconds of the gateway's
 * CPU per request, its memory at the end of the load, and the shares of its core that it and other processes
 * used during the load. If a gateway consists of several processes, `gateway.parts` lists the others, and
 * `parts` of the result has the microseconds of each per request.
 */
export async function runLoad(place, load, { gateway, connections, seconds, rate }) {
  const usage = () => usageOf(gateway.child.pid, place.cores?.measured ?? []);
  const parts = await partsCpuMs(gateway);
  const start = usage();
  const result = await load.run(place, { ...gateway, connections, seconds, rate });
  const under = minus(usage(), start);
  const rssMb = residentMb(gateway.child.pid);
  await untilQuiet(gateway.child.pid, QUIET_MS);
  const whole = minus(usage(), start);
  const used = minus(await partsCpuMs(gateway), parts);
  return {
    ...result,
    rssMb,
    parts: mapped(used, (ms) => (ms * 1000) / result.answers),
    cpuMicros: (whole.own * 1000) / result.answers,
    childrenCpuMicros: (whole.children * 1000) / result.answers,
    coreShare: under.own / under.at,
    othersShare: place.cores && Math.max(0, under.cores - under.own) / under.at,
  };
}

/** Milliseconds of CPU so far, NaN if there are no figures, and the time. */
function usageOf(pid, cores) {
  const figures = { own: cpuMs(pid), children: childrenCpuMs(pid), cores: coresMs(cores) };
  return { ...figures, at: performance.now() };
}

/** Ends after the load's own time and a grace period for its start and its last responses. */
function deadlineMs(seconds) {
  return (seconds + 30) * 1000;
}

async function runWrk(place, { url, headers, body, connections, seconds }) {
  const script = join(place.dir, 'load.lua');
  writeFileSync(script, wrkScript(headers, body));
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url];
  const output = await place.run('wrk', 'wrk', { args, deadlineMs: deadlineMs(seconds) });
  return JSON.parse(output.slice(output.lastIndexOf('\n{')));
}

function wrkScript(headers, body) {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${quote(name)}] = ${quote(value)}`,
  );
  return `
wrk.method = "POST"
wrk.body = ${quote(body)}
${lines.join('\n')}
function done(summary, latency)
  local faults = summary.errors
  io.write(string.format(
    '\\n{"answers":%d,"faults":%d,"perSecond":%.1f,"p50Ms":%.3f,"p99Ms":%.3f}\\n',
    summary.requests - faults.status,
    faults.status + faults.connect + faults.read + faults.write + faults.timeout,
    (summary.requests - faults.status) / (summary.duration / 1000000),
    latency:percentile(50) / 1000,
    latency:percentile(99) / 1000))
end
`;
}

/** As a Lua string. */
function quote(text) {
  return `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

async function runSteadily(place, { url, headers, body, bodies = [body], seconds, rate }) {
  const args = [fileURLToPath(STEADY_PROGRAM), JSON.stringify({ url, headers, bodies, seconds, rate })];
  const output = await place.run('load', process.execPath, { args, deadlineMs: deadlineMs(seconds) });
  return JSON.parse(output.slice(output.lastIndexOf('{"answers"')));
}

async function runAutocannon(place, { url, headers, body, connections, seconds }) {
  const pairs = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const options = ['-c', connections, '-d', seconds, '-m', 'POST', '-b', body, '--json', '--no-progress'];
  const args = [autocannon().program, ...options.map(String), ...pairs, url];
  const output = await place.run('autocannon', process.execPath, { args, deadlineMs: deadlineMs(seconds) });
  const report = JSON.parse(output.slice(output.indexOf('{"')));
  return {
    answers: report['2xx'],
    faults: report.non2xx + report.errors,
    perSecond: report['2xx'] / report.duration,
    p50Ms: report.latency.p50,
    p99Ms: report.latency.p99,
  };
}

function autocannon() {
  const require = createRequire(import.meta.url);
  const program = require.resolve('autocannon');
  return { program, version: require(join(dirname(program), 'package.json')).version };
}

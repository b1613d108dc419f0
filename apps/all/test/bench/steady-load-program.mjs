// Started by `steadyLoad`: requests at random moments, like those of independent clients, at this average
// rate per second. Each is sent at its time, however many are in progress; its latency counts from then.
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** Timeout for responses after the last request. */
const LAST_MS = 9_000;

const { url, headers, body, connections, seconds, rate } = JSON.parse(process.argv[2]);
const { origin, pathname: path } = new URL(url);
const pool = new Pool(origin, { connections, headersTimeout: LAST_MS, bodyTimeout: LAST_MS });
const latencies = [];
let faults = 0;

async function ask(dueMs) {
  try {
    const answer = await pool.request({ path, method: 'POST', headers, body });
    await answer.body.dump({ limit: Number.POSITIVE_INFINITY });
    if (answer.statusCode === 200) latencies.push(performance.now() - dueMs);
    else faults += 1;
  } catch {
    faults += 1;
  }
}

const underWay = [];
const startMs = performance.now();
const endMs = startMs + seconds * 1_000;
/** The interval between independent events has an exponential distribution. */
const pauseMs = () => (-Math.log(1 - Math.random()) * 1_000) / rate;
for (let dueMs = startMs + pauseMs(); dueMs < endMs; dueMs += pauseMs()) {
  if (dueMs > performance.now()) await sleep(dueMs - performance.now());
  underWay.push(ask(dueMs));
}
await Promise.all(underWay);
latencies.sort((a, b) => a - b);
const share = (part) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0;
const perSecond = latencies.length / seconds;
console.log(
  JSON.stringify({ answers: latencies.length, faults, perSecond, p50Ms: share(0.5), p99Ms: share(0.99) }),
);
process.exit(0);

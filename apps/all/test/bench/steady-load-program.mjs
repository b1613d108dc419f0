// Started by `steadyLoad`: requests at random moments, like those of independent clients, at this average
// rate per second. Each is sent at its time, however many are in progress; its latency counts from then.
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** Time limit of each response, and of all of them after the last request. */
const LAST_MS = 25_000;

/** The end of every stream. */
const DONE = 'data: [DONE]\n\n';

const { url, headers, bodies, seconds, rate } = JSON.parse(process.argv[2]);
const { origin, pathname: path } = new URL(url);
// Without a limit of connections, so that no request waits for another one to end.
const pool = new Pool(origin, { headersTimeout: LAST_MS, bodyTimeout: LAST_MS });
const latencies = [];
const firstBytes = [];
const faults = [];

async function ask(dueMs, body) {
  try {
    const answer = await pool.request({ path, method: 'POST', headers, body });
    const isStream = answer.headers['content-type'].startsWith('text/event-stream');
    let firstByteMs;
    let tail = '';
    for await (const data of answer.body) {
      firstByteMs ??= performance.now() - dueMs;
      tail = (tail + data.latin1Slice()).slice(-DONE.length);
    }
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
    if (isStream && tail !== DONE) throw new Error('no [DONE] at the end');
    firstBytes.push(firstByteMs);
    latencies.push(performance.now() - dueMs);
  } catch (error) {
    faults.push(error.message);
  }
}

const underWay = new Set();
let sent = 0;
const startMs = performance.now();
const endMs = startMs + seconds * 1_000;
/** The interval between independent events has an exponential distribution. */
const pauseMs = () => (-Math.log(1 - Math.random()) * 1_000) / rate;
for (let dueMs = startMs + pauseMs(); dueMs < endMs; dueMs += pauseMs()) {
  if (dueMs > performance.now()) await sleep(dueMs - performance.now());
  const answer = ask(dueMs, bodies[sent++ % bodies.length]);
  underWay.add(answer);
  void answer.then(() => underWay.delete(answer));
}
await Promise.race([Promise.all(underWay), sleep(LAST_MS)]);
if (underWay.size > 0) faults.push(...Array.from(underWay, () => 'no complete response'));
const share = (figures, part) =>
  figures[Math.min(figures.length - 1, Math.floor(figures.length * part))] ?? 0;
latencies.sort((a, b) => a - b);
firstBytes.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    answers: latencies.length,
    faults: faults.length,
    fault: faults[0],
    perSecond: latencies.length / seconds,
    p50Ms: share(latencies, 0.5),
    p99Ms: share(latencies, 0.99),
    firstByteP50Ms: share(firstBytes, 0.5),
    firstByteP99Ms: share(firstBytes, 0.99),
  }),
);
process.exit(0);

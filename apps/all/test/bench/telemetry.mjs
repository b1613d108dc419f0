// The cost of telemetry: the CPU time of a request with everything enabled (traces of 1 %, metrics and traces
// by OTLP every 5 s, and a Prometheus scrape every second), compared with a process without telemetry, in
// turns; and first the same for completions without other work. `npm run bench:telemetry -- --rounds 6
// --seconds 5`. The limit is 10 µs of CPU per request.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { startInstantBackend } from './backend.mjs';
import { prove, ready } from './gateways.mjs';
import { findLoad } from './load.mjs';
import { startOurs } from './ours.mjs';
import { Workplace } from './processes.mjs';
import { median, runLoadRounds } from './rounds.mjs';
import { telemetryMicros } from './telemetry-parts.mjs';

const CONNECTIONS = 32;
const METRICS_TOKEN = 'metrics-token-of-the-bench-of-telemetry';
const SCRAPE_MS = 1_000;
/** Maximum microseconds of CPU per request for telemetry. */
const ALLOWED = 10;

const micros = (number) => `${number.toFixed(1)} µs`;

/** Receives OTLP data. */
async function startSink() {
  const sink = { requests: 0, server: createServer() };
  sink.server.on('request', (request, response) => {
    sink.requests += 1;
    request.resume().on('end', () => response.end());
  });
  sink.server.listen(0, '127.0.0.1');
  await once(sink.server, 'listening');
  return sink;
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '6' }, seconds: { type: 'string', default: '5' } },
});
const place = await Workplace.open({ isPinned: true });
try {
  const { url: instantUrl } = await startInstantBackend(place);
  const sink = await startSink();
  const on = {
    SVC_METRICS_TOKEN: METRICS_TOKEN,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${sink.server.address().port}`,
    OTEL_METRIC_EXPORT_INTERVAL: '5000',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  };
  const options = {
    connections: CONNECTIONS,
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
  };
  const alone = await telemetryMicros(place, { env: on, ...options });
  console.log(
    `telling alone, round by round: ${alone.map(micros).join(', ')}; middle ${micros(median(alone))} of CPU a completion, of ${ALLOWED} µs: ${median(alone) <= ALLOWED ? 'ok' : 'ABOVE'}`,
  );
  const urls = { instantUrl, streamUrl: instantUrl };
  const gateways = [];
  for (const [name, env] of [
    ['off', {}],
    ['on', on],
  ])
    gateways.push({ name, ...ready(place, await startOurs(place, { ...urls, name, env })) });
  for (const gateway of gateways) await prove(gateway);
  const { metricsUrl } = gateways[1];
  const scraping = setInterval(() => {
    fetch(metricsUrl, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
      .then((response) => response.text())
      .catch(() => undefined);
  }, SCRAPE_MS);
  const say = (text) => console.error(`… ${text}`);
  const [offLoad, onLoad] = await runLoadRounds(place, { gateways, load: findLoad(), options, say });
  clearInterval(scraping);
  const cpu = ({ rounds }) => rounds.map(({ cpuMicros }) => cpuMicros);
  const differences = cpu(onLoad).map((used, round) => used - cpu(offLoad)[round]);
  console.log(`off: ${cpu(offLoad).map(micros).join(', ')} of CPU a request`);
  console.log(`on:  ${cpu(onLoad).map(micros).join(', ')}`);
  console.log(`more with telemetry, round by round: ${differences.map(micros).join(', ')}`);
  console.log(
    `middle ${micros(median(differences))}; of the least of each ${micros(Math.min(...cpu(onLoad)) - Math.min(...cpu(offLoad)))}`,
  );
  console.log(`${sink.requests} requests by OTLP`);
  sink.server.close();
} finally {
  await place.close();
}

// The cost of telemetry: the CPU time of a request with everything enabled (traces of 1 %, metrics and traces
// by OTLP every 5 s, and a Prometheus scrape every second), compared with a process without telemetry, in
// turns; and first the same for completions without other work. The limit is 10 µs of CPU per request.
import { counts, readCommandLine } from '../command-line.mjs';
import { startInstantBackend } from '../backends/backend.mjs';
import { prove, ready } from '../gateways/gateways.mjs';
import { findLoad } from '../load.mjs';
import { startOurs } from '../gateways/ours.mjs';
import { Workplace } from '../processes.mjs';
import { median, runLoadRounds } from '../rounds.mjs';
import { telemetryMicros } from './parts.mjs';
import { TelemetrySink } from './sink.mjs';

const CONNECTIONS = 32;
/** Maximum microseconds of CPU per request for telemetry. */
const ALLOWED = 10;

const micros = (number) => `${number.toFixed(1)} µs`;

const USAGE = `Usage: npm run bench:telemetry -- [options]

  --rounds N   rounds in turn (6)
  --seconds N  seconds of load in each (5)
`;

const options = readCommandLine(
  USAGE,
  { rounds: { type: 'string' }, seconds: { type: 'string' } },
  (values) => ({
    connections: CONNECTIONS,
    ...counts(values, { usual: { rounds: 6, seconds: 5 }, most: { rounds: 99, seconds: 60 } }),
  }),
);
const place = await Workplace.open({ isPinned: true });
try {
  const { url: instantUrl } = await startInstantBackend(place);
  const sink = await TelemetrySink.start();
  const on = sink.env;
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
  sink.scrape(gateways[1].metricsUrl);
  const say = (text) => console.error(`… ${text}`);
  const [offLoad, onLoad] = await runLoadRounds(place, { gateways, load: findLoad(), options, say });
  sink.stop();
  const cpu = ({ rounds }) => rounds.map(({ cpuMicros }) => cpuMicros);
  const differences = cpu(onLoad).map((used, round) => used - cpu(offLoad)[round]);
  console.log(`off: ${cpu(offLoad).map(micros).join(', ')} of CPU a request`);
  console.log(`on:  ${cpu(onLoad).map(micros).join(', ')}`);
  console.log(`more with telemetry, round by round: ${differences.map(micros).join(', ')}`);
  console.log(
    `middle ${micros(median(differences))}; of the least of each ${micros(Math.min(...cpu(onLoad)) - Math.min(...cpu(offLoad)))}`,
  );
  console.log(`${sink.requests} requests by OTLP`);
} finally {
  await place.close();
}

// The bytes that a request leaves in each store of a cluster: a load of completions, and the growth of each
// store until all of their charges are posted.
import { writeFileSync } from 'node:fs';
import { startInstantBackend } from '../backends/backend.mjs';
import { counts, readCommandLine } from '../command-line.mjs';
import { prove, ready } from '../gateways/gateways.mjs';
import { findLoad, runLoad } from '../load.mjs';
import { describeMachine } from '../machine.mjs';
import { Workplace } from '../processes.mjs';
import { startCluster } from '../shapes/shapes.mjs';
import { bytesOfStores } from './stores.mjs';

const USAGE = `Usage: npm run bench:disk -- [options]

  --seconds N   seconds of load (60)
  --json FILE   write the figures to FILE as well
`;

const CONNECTIONS = 32;
/** The first pages of tables and the first messages of consumers are left out. */
const WARM_UP_SECONDS = 5;
/** Stores that grow by less than this for each request are not printed. */
const LEAST_BYTES = 1;

/** Runs the load and returns the bytes for each request by store, and the audit. */
async function measure(place, seconds) {
  const { url: instantUrl } = await startInstantBackend(place);
  const cluster = ready(place, await startCluster(place, { instantUrl, streamUrl: instantUrl }));
  await prove(cluster);
  const load = (duration) =>
    runLoad(place, findLoad(), { gateway: cluster, connections: CONNECTIONS, seconds: duration });
  const warmUp = await load(WARM_UP_SECONDS);
  const first = await cluster.operator.auditAfter(warmUp.answers);
  const before = await bytesOfStores(cluster);
  const { answers, faults } = await load(seconds);
  const audit = await cluster.operator.auditAfter(first.charges + answers);
  const after = await bytesOfStores(cluster);
  const charges = audit.charges - first.charges;
  const bytes = [...after].map(([store, size]) => [store, (size - (before.get(store) ?? 0)) / charges]);
  return { charges, faults, ok: audit.ok, bytes: Object.fromEntries(bytes) };
}

/** Sums of the stores whose name begins with a text. */
const sumOf = (bytes, start) =>
  Object.entries(bytes).reduce((sum, [store, size]) => (store.startsWith(start) ? sum + size : sum), 0);

function report(machine, { charges, faults, ok, bytes }) {
  // A byte for each request is a megabyte for each million requests.
  const line = (store, size) => `  ${store.padEnd(48)}${size.toFixed(0).padStart(8)}`;
  const wal = bytes['PostgreSQL WAL, written'];
  const totals = {
    'PostgreSQL, tables and indexes': sumOf(bytes, 'PostgreSQL ') - wal,
    'Kafka, one replica': sumOf(bytes, 'Kafka '),
    logs: sumOf(bytes, 'log of '),
  };
  return [
    `Disk: ${machine.cores} cores, ${machine.cpu}, Node ${machine.node}`,
    `  ${charges} charges, ${faults} failed requests, audit ${ok ? 'ok' : 'NOT OK'}`,
    '  bytes for each request, or MB for each million requests',
    ...Object.entries(bytes)
      .filter(([, size]) => size >= LEAST_BYTES)
      .toSorted(([, a], [, b]) => b - a)
      .map(([store, size]) => line(store, size)),
    '',
    ...Object.entries(totals).map(([store, size]) => line(`${store}, in all`, size)),
  ].join('\n');
}

const options = readCommandLine(
  USAGE,
  { seconds: { type: 'string' }, json: { type: 'string' } },
  (values) => ({
    ...counts(values, { usual: { seconds: 60 }, most: { seconds: 3_600 } }),
    json: values.json,
  }),
);
const place = await Workplace.open({ isPinned: false });
process.once('SIGINT', () => void place.close().then(() => process.exit(130)));
process.once('SIGTERM', () => void place.close().then(() => process.exit(143)));
try {
  const machine = await describeMachine(place.cores);
  const found = await measure(place, options.seconds);
  console.log(report(machine, found));
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ machine, ...found }, null, 2)}\n`);
  process.exitCode = found.ok && found.faults === 0 ? 0 : 1;
} finally {
  await place.close();
}

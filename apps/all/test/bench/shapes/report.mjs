// The report of a run of both shapes.
import { fixed, streamFaults, table } from '../report.mjs';
import { median } from '../rounds.mjs';

/** The gateway of a cluster may cost this many times as much as the single process. */
const GATEWAY_TIMES = 1.2;

/** The process that gets the requests, in either shape. */
const ASKED = 'process asked';

/** Requests/s and latency of both shapes. */
export function loadsText(shapes) {
  const rows = shapes.map(({ name, median: figures, faults }) => [
    name,
    fixed(figures.perSecond, 0),
    fixed(figures.p50Ms, 1),
    fixed(figures.p99Ms, 1),
    String(faults),
  ]);
  return table(['', 'requests/s', 'p50 ms', 'p99 ms', 'faults'], rows).join('\n');
}

/** The CPU time of a request in each process. */
export function partsText([one, cluster]) {
  return table(['CPU us/request', one.name, cluster.name], partRows(one, cluster)).join('\n');
}

/** The CPU time of a streamed chunk in each process, and the first fault of a stream. */
export function chunksText([one, cluster]) {
  const rows = table(['CPU us/chunk', one.name, cluster.name], partRows(one, cluster, 1));
  return ['Streams', ...rows, ...streamFaults([one, cluster])].join('\n');
}

function partRows(one, cluster, digits = 0) {
  const [inOne, inCluster] = [one, cluster].map(({ median: { cpuMicros }, parts }) => ({
    [ASKED]: cpuMicros,
    ...parts,
  }));
  const names = [...new Set([...Object.keys(inCluster), ...Object.keys(inOne)])];
  const rows = names.map((name) => [name, fixed(inOne[name], digits), fixed(inCluster[name], digits)]);
  return [...rows, ['together', fixed(sum(inOne), digits), fixed(sum(inCluster), digits)]];
}

/** The cost of the process that gets the requests in the cluster, relative to the single process. */
export function timesText([one, cluster]) {
  const byRound = cluster.rounds.map(({ cpuMicros }, at) => cpuMicros / one.rounds[at].cpuMicros);
  const times = median(byRound);
  const word = times <= GATEWAY_TIMES ? 'ok' : 'ABOVE TARGET';
  return `  the gateway costs ${fixed(times, 2)} times the one process; target <= ${GATEWAY_TIMES}: ${word}`;
}

const sum = (figures) => Object.values(figures).reduce((total, figure) => total + figure, 0);

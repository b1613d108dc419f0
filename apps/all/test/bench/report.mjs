// The report of a run.
import { BESIDE } from './gateways/gateways.mjs';
import { median } from './rounds.mjs';

/** The service's targets: requests/s relative to the others, microseconds of CPU per streamed chunk. */
const TARGETS = { beside: 1, peer: 5, bare: 0.4, bareAim: 0.5, chunkMicros: 26, idleMb: 170, startMs: 1_000 };

/** Below this share of its core, the bottleneck was the load or the backend and not the gateway. */
const BUSY_SHARE = 0.85;

/** If other work takes more of the machine than this, the figures are unreliable. */
const CALM_SHARE = 0.1;

/** The machine and the versions. */
export function headText({ options, machine, backend, load }) {
  const { seconds, rounds, connections } = options;
  const { cores, cpu, node, pinned, otherWork } = machine;
  const kept = connections === undefined ? '' : `${connections} kept-alive connections, `;
  return [
    `Machine  ${cores} cores, ${cpu}, Node ${node}`,
    `Cores    ${pinned ? `a gateway on ${pinned.measured}, all else on ${pinned.others}` : 'not pinned'}`,
    `Backend  ${backend}, a fixed answer`,
    `Load     ${load}, ${kept}${rounds} rounds of ${seconds} s in turn; medians`,
    ...(otherWork > CALM_SHARE ? [`Note     other work takes ${percent(otherWork)} of this machine`] : []),
  ].join('\n');
}

/** Requests/s, latency and CPU of each gateway. */
export function loadText(gateways) {
  const measured = gateways.filter((gateway) => gateway.median);
  const rows = measured.map(({ name, median: figures, faults }) => [
    name,
    fixed(figures.perSecond, 0),
    fixed(figures.p50Ms, 1),
    fixed(figures.p99Ms, 1),
    fixed(figures.cpuMicros, 0),
    percent(figures.coreShare),
    percent(figures.othersShare),
    fixed(figures.rssMb, 0),
    String(faults),
  ]);
  const head = ['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU us/request', 'of core', 'others', 'MB', 'faults'];
  return [...table(head, rows), ...gateways.flatMap(loadNotes)].join('\n');
}

function loadNotes({ name, problem, note, median: figures, operator }) {
  if (problem) return [`  ${name}: ${problem}`];
  const notes = note ? [`  ${name}: ${note}`] : [];
  if (figures.coreShare < BUSY_SHARE) {
    notes.push(`  ${name} had less than its core: the load, the backend or other work was its limit`);
  }
  if (operator && figures.childrenCpuMicros > 0) {
    notes.push(`  ${name}: beside that ${fixed(figures.childrenCpuMicros, 0)} us/request in its PostgreSQL`);
  }
  return notes;
}

/** This service relative to the others: requests/s by round, of which the median, and CPU per request. */
export function ratiosOf([ours, bare, peer, ...more]) {
  const beside = more.find(({ name }) => name === BESIDE);
  return {
    peer: ratioOf(ours, peer),
    bare: ratioOf(ours, bare),
    ...(beside && { beside: ratioOf(ours, beside) }),
    others: more
      .filter((one) => one !== beside)
      .map((one) => ({ name: one.name, ratio: ratioOf(ours, one) })),
  };
}

function ratioOf(ours, other) {
  if (!ours.median || !other.median?.perSecond) return undefined;
  const byRound = ours.rounds.map((round, index) => round.perSecond / other.rounds[index].perSecond);
  const byCpu = other.median.cpuMicros / ours.median.cpuMicros;
  // Without CPU figures there is no such ratio.
  return { perSecond: median(byRound), ...(Number.isFinite(byCpu) && { byCpu }) };
}

/** How the service compares with its targets. */
export function ratioText({ peer, bare, beside, others }) {
  const aim = `(aim ${TARGETS.bareAim})`;
  return [
    'This service, requests/s over',
    `  the peer        ${verdict(peer, TARGETS.peer)}`,
    `  the bare proxy  ${verdict(bare, TARGETS.bare)} ${aim}`,
    ...(beside ? [`  the other one   ${verdict(beside, TARGETS.beside)}`] : []),
    ...others.map(({ name, ratio }) => `  ${name}: ${ratio ? timesText(ratio) : 'not measured'}`),
  ].join('\n');
}

function verdict(ratio, target) {
  if (ratio === undefined) return `not measured, target >= ${target}`;
  const word = ratio.perSecond >= target ? 'ok' : 'BELOW TARGET';
  return `${timesText(ratio)}; target >= ${target}: ${word}`;
}

function timesText({ perSecond, byCpu }) {
  return `${fixed(perSecond, 2)}${byCpu === undefined ? '' : `; by CPU per request ${fixed(byCpu, 2)}`}`;
}

/** CPU per streamed chunk of each gateway, and whether each stream was complete. */
export function streamText(gateways, { streams, rounds }) {
  const rows = gateways.map(({ name, median: figures, whole, opened }) => [
    name,
    fixed(figures.cpuMicros, 1),
    fixed(figures.chunksPerSecond, 0),
    fixed(figures.readsPerChunk, 2),
    fixed(figures.firstByteMs, 1),
    `${whole} of ${opened}`,
  ]);
  const head = ['', 'CPU us/chunk', 'chunks/s', 'reads/chunk', 'first byte ms', 'whole to [DONE]'];
  return [
    `Streams  ${streams} at once, ${rounds} rounds in turn; medians`,
    ...table(head, rows),
    ...streamFaults(gateways),
    ...chunkVerdict(gateways),
  ].join('\n');
}

/** A line for each gateway of which a stream failed. */
export function streamFaults(gateways) {
  return gateways
    .filter(({ fault }) => fault)
    .map(({ name, fault }) => `  ${name}: a stream failed: ${fault}`);
}

function chunkVerdict(gateways) {
  const ours = gateways.find(({ operator }) => operator)?.median.cpuMicros;
  if (ours === undefined) return [];
  const word = ours <= TARGETS.chunkMicros ? 'ok' : 'ABOVE TARGET';
  const times = ours / gateways.find(({ operator }) => !operator).median.cpuMicros;
  return [`  ${fixed(times, 2)} times the bare proxy's; target <= ${TARGETS.chunkMicros} us/chunk: ${word}`];
}

/** Whether the money is correct: no charge missing, none too many. */
export function moneyText({ audit, load, exact }) {
  const faults = audit.mismatches.slice(0, 5).join('; ');
  return [
    'Money',
    `  audit         ${audit.ok ? 'ok' : `WRONG: ${faults}`}, ${audit.charges} charges`,
    `  under load    ${load.charges} charges for ${load.answers} answers, and at most ${load.cutOff} cut off: ${sign(load.ok)}`,
    `  without load  ${exact.charges} charges for ${exact.answers} answers, streams included: ${sign(exact.ok)}`,
  ].join('\n');
}

function sign(isOk) {
  return isOk ? 'ok' : 'WRONG';
}

/** How long this service takes to start, and its memory without load. */
export function startText({ startMs, idleMb }) {
  const verdict = (figure, most) => (figure <= most ? 'ok' : 'ABOVE TARGET');
  return [
    'Start, with the data of an earlier run; medians',
    `  first completion  ${fixed(startMs, 0)} ms; target <= ${TARGETS.startMs}: ${verdict(startMs, TARGETS.startMs)}`,
    `  idle memory       ${fixed(idleMb, 0)} MB; target <= ${TARGETS.idleMb}: ${verdict(idleMb, TARGETS.idleMb)}`,
  ].join('\n');
}

export function table(head, rows) {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column].length)),
  );
  return [head, ...rows].map((row) => {
    const [name, ...figures] = row.map((cell, column) => {
      return column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]);
    });
    return `  ${[name, ...figures].join('  ')}`;
  });
}

export function fixed(number, digits) {
  if (number === undefined) return '-';
  return number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function percent(share) {
  return share === undefined ? '-' : `${Math.round(share * 100)} %`;
}

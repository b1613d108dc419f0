// Attributes the samples of a CPU profile to the steps of a request.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const OWN = /\/(?:libs|apps)\/([\w-]+)\/dist\/(.*)$/;
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** What belongs to each step: files and folders of `libs`, and packages. The first match counts. */
const STEPS = [
  [
    'settle',
    /^ledger\/(?:posting\/(?:settlement-fallback|charge-log|charge-fault)|local-ledger|renewing-ledger)/,
  ],
  ['post', /^(?:ledger\/|events\/(?:delivery|postgres)\/|storage\/|package (?:pg|postgres))/],
  ['publish', /^events\//],
  ['log, metrics, traces', /^(?:runtime\/logging\/|telemetry\/|package (?:pino|sonic-boom|quick-format))/],
  ['key', /^(?:paid\/(?:auth|accounts|wallets)\/|gateway\/keys\/|package lru-cache)/],
  ['validate', /^(?:runtime\/json\/|paid\/json\/(?!backend)|text\/request\/request-text|package zod)/],
  ['validate', /^(?:api\/|contracts\/problems\/)/],
  ['admit', /^(?:limiter|paid\/limits)\//],
  [
    'hold and price',
    /^(?:hold-book\/|paid\/paid\/|text\/chat\/(?:chat-hold|chat-price|progress)|contracts\/m)/,
  ],
  ['plan and prepare', /^(?:text\/(?:request|tokens|web)|paid\/models|gateway\/augment|catalog)\//],
  ['call', /^(?:backend-calls\/|router\/|runtime\/calls\/|package undici)/],
  ['read and shape', /^(?:text\/output|paid\/json)\//],
  ['write', /^paid\/http\/response-writer/],
  ['receive', /^(?:runtime\/|package (?:fastify|find-my-way|@nestjs|@fastify|avvio|light-my))/],
  ['other code of the gateway', /^(?:gateway|paid|text|client-dialects)\//],
];

/** Frames without a file of ours or of a package below them. */
const ROOTS = [
  ['garbage collection', /^\(garbage collector\)$/],
  ['native code and the kernel', /^\(program\)$/],
  ['promises', /^runMicrotasks$/],
];

const NODE = "Node's HTTP and streams";

/** The profile that the process wrote to the folder at its end: that of its main thread is the largest. */
export function readProfile(folder) {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => join(folder, name))
    .toSorted((a, b) => statSync(b).size - statSync(a).size);
  if (files.length === 0) throw new Error('the process wrote no CPU profile');
  return JSON.parse(readFileSync(files[0], 'utf8'));
}

/**
 * The share of each step in the samples between two times in microseconds, without idle ones; the largest
 * first. A sample belongs to its innermost frame in a file of ours or of a package, so what Node does for a
 * step counts as the step.
 */
export function stepShares(profile, { fromMicros, toMicros }) {
  const steps = stepsOfNodes(profile);
  const sums = new Map();
  let at = profile.startTime;
  let all = 0;
  for (const [index, id] of profile.samples.entries()) {
    const took = Math.max(0, profile.timeDeltas[index]);
    at += profile.timeDeltas[index];
    const step = steps.get(id);
    if (at < fromMicros || at > toMicros || step === undefined) continue;
    all += took;
    sums.set(step, (sums.get(step) ?? 0) + took);
  }
  return Array.from(sums, ([step, took]) => ({ step, share: took / all })).toSorted(
    (a, b) => b.share - a.share,
  );
}

/** The step of each node of the call tree; undefined for idle time. */
function stepsOfNodes({ nodes }) {
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node])));
  const steps = new Map();
  for (const node of nodes) {
    let step;
    for (let frame = node; frame && step === undefined; frame = parents.get(frame.id)) step = stepOf(frame);
    const { functionName } = node.callFrame;
    const root = ROOTS.find(([, names]) => names.test(functionName));
    if (functionName !== '(idle)') steps.set(node.id, step ?? root?.[0] ?? NODE);
  }
  return steps;
}

function stepOf({ callFrame: { url } }) {
  const packaged = PACKAGE.exec(url);
  const own = OWN.exec(url);
  if (!packaged && !own) return undefined;
  const place = packaged ? `package ${packaged[1]}` : `${own[1]}/${own[2]}`;
  return STEPS.find(([, places]) => places.test(place))?.[0] ?? place;
}

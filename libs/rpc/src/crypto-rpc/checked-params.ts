import { boundedJson } from '@svc/runtime';
import { foldedName } from '@svc/paid/json';
import { rpcError } from './node-outcomes.js';

const INVALID_PARAMS = -32_602;

/** What bounds the work of a call at a node. */
export interface WorkBounds {
  /** The most blocks of a filter. */
  readonly maxLogBlocks: number | undefined;
  /** A block that is final at all nodes of the network. */
  readonly finalizedBlock: number | undefined;
}

/** A call whose work depends on its parameters, as it is passed on. */
interface CheckedCall {
  /** The JSON text of the parameters as they were read, so that a node cannot read others. */
  readonly params: string | undefined;
  /** The JSON text of an error, if the call must not reach a node. */
  readonly refusal?: string;
}

type Options = Readonly<Record<string, unknown>>;

/** The names of options, and the fault that options have, if any. */
interface Check {
  readonly names: readonly string[];
  readonly faultOf: (options: Options, method: string, bounds: WorkBounds) => string | undefined;
}

const RANGE: Check = { names: ['fromBlock', 'toBlock', 'blockHash'], faultOf: rangeFault };
const TRACING: Check = { names: ['tracer', 'tracerConfig', 'timeout', 'reexec'], faultOf: tracingFault };

const RANGED: ReadonlySet<string> = new Set(['eth_getLogs', 'trace_filter', 'arbtrace_filter']);

/** Checks the parameters of filters and of tracing. */
export function checkedParams(method: string, params: string | undefined, bounds: WorkBounds): CheckedCall {
  const check = RANGED.has(method) ? RANGE : method.startsWith('debug_trace') ? TRACING : undefined;
  if (params === undefined || !check) return { params };
  const read = boundedJson(params);
  const fault = Array.isArray(read)
    ? firstOf(read.filter(isOptions), (options) => faultIn(options, check, { method, bounds }))
    : `${method} takes a list of parameters.`;
  return {
    params: JSON.stringify(read),
    ...(fault !== undefined && { refusal: rpcError(INVALID_PARAMS, `${fault} Not charged.`) }),
  };
}

/** Nodes written in Go also read names in other cases. */
function faultIn(
  options: Options,
  { names, faultOf }: Check,
  { method, bounds }: { readonly method: string; readonly bounds: WorkBounds },
): string | undefined {
  const known = new Map(names.map((name) => [foldedName(name), name]));
  const expected = firstOf(Object.keys(options), (name) => {
    const right = known.get(foldedName(name));
    return right === name ? undefined : right;
  });
  return expected === undefined
    ? faultOf(options, method, bounds)
    : `Names are spelled exactly: expected ${expected}.`;
}

function rangeFault(
  { fromBlock, toBlock }: Options,
  method: string,
  { maxLogBlocks, finalizedBlock }: WorkBounds,
): string | undefined {
  if (maxLogBlocks === undefined) return undefined;
  // Without a first block, eth_getLogs begins with the latest one, the others with the first.
  const from = blockOf(fromBlock ?? (method === 'eth_getLogs' ? 'latest' : 'earliest'));
  const last = blockOf(toBlock ?? 'latest');
  if (from === undefined || last === undefined || from === MOVING) return undefined;
  // Only a node knows the number of a tag such as `latest`, which no final block is beyond.
  const to = last === MOVING ? BigInt(finalizedBlock ?? 0) : last;
  if (to - from < BigInt(maxLogBlocks)) return undefined;
  const range = `[0x${from.toString(16)}, 0x${(from + BigInt(maxLogBlocks) - 1n).toString(16)}]`;
  return `${method} covers at most ${maxLogBlocks} blocks. This range would do: ${range}.`;
}

const MOVING = 'moving';
const MOVING_TAGS: ReadonlySet<string> = new Set(['finalized', 'latest', 'pending', 'safe']);

/** The number of a block, in every notation that some node reads. */
function blockOf(block: unknown): bigint | typeof MOVING | undefined {
  if (typeof block === 'number') return Number.isSafeInteger(block) && block >= 0 ? BigInt(block) : undefined;
  if (typeof block !== 'string') return undefined;
  const text = block.trim().toLowerCase();
  if (MOVING_TAGS.has(text)) return MOVING;
  if (text === 'earliest') return 0n;
  return /^(?:0x[0-9a-f]{1,64}|\d{1,64})$/.test(text) ? BigInt(text) : undefined;
}

/** A name of a tracer, not a program. */
const TRACER = /^\w{0,64}$/;

/** The most seconds of tracing. No node is waited for any longer. */
const TRACING_SECONDS = 10;
const DURATION = /^(\d{1,5}(?:\.\d{1,9})?)(ms|s)$/;

/** The most blocks that a node executes again to trace another one: the default of Geth. */
const EXECUTED_BLOCKS = 128;

function tracingFault({ tracer, tracerConfig, timeout, reexec }: Options): string | undefined {
  if (isGiven(tracer) && !(typeof tracer === 'string' && TRACER.test(tracer)))
    return 'tracer must be the name of a tracer, such as callTracer.';
  // Some tracers run others, which the names of their configuration name.
  if (!hasPlainNames(tracerConfig)) return 'tracerConfig must have plain names.';
  if (isGiven(timeout) && !(secondsIn(timeout) <= TRACING_SECONDS))
    return `timeout must be a text such as "5s", of at most ${TRACING_SECONDS} seconds.`;
  if (isGiven(reexec) && !(typeof reexec === 'number' && reexec <= EXECUTED_BLOCKS))
    return `reexec must be a number of at most ${EXECUTED_BLOCKS}.`;
  return undefined;
}

function secondsIn(timeout: unknown): number {
  const [, count, unit] = (typeof timeout === 'string' && DURATION.exec(timeout)) || [];
  return Number(count ?? Number.NaN) / (unit === 'ms' ? 1_000 : 1);
}

function hasPlainNames(value: unknown): boolean {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, member] of Object.entries(next)) {
      if (!/^\w{1,64}$/.test(name)) return false;
      left.push(member);
    }
  }
  return true;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const isOptions = (value: unknown): value is Options =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first result that is not `undefined`. */
function firstOf<Item, Result>(
  items: readonly Item[],
  resultOf: (item: Item) => Result | undefined,
): Result | undefined {
  for (const item of items) {
    const result = resultOf(item);
    if (result !== undefined) return result;
  }
  return undefined;
}

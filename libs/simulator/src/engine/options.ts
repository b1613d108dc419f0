import { parseArgs } from 'node:util';
import { FAULTS, isFault } from '../request/faults.js';
import type { FaultName } from '../request/faults.js';

/** All settings of a simulator. Times in milliseconds unless the name says otherwise. */
export interface SimulatorOptions {
  host: string;
  /** 0 picks any free port. */
  port: number;
  /** Part of the seed of every answer, jitter and random fault. */
  seed: number;
  /** Only these models exist; undefined accepts any id. */
  models: readonly string[] | undefined;
  ttftMs: number;
  itlMs: number;
  jitter: number;
  prefillUsPerToken: number;
  /** Whether prompts are computed one after the other. */
  serialPrefill: boolean;
  /** With more sequences than this, decoding is slower in proportion; 0 means never. */
  batchKnee: number;
  outputTokens: number;
  reasoningTokens: number;
  /** Longer prompts are rejected; 0 means no limit. */
  contextTokens: number;
  /** The most concurrent requests; 0 means no limit. */
  maxParallel: number;
  maxQueue: number;
  /** Status of a request that finds the queue full: 503 or 429. */
  queueFullStatus: number;
  prefixCache: boolean;
  cacheMinTokens: number;
  cacheBlocks: number;
  /** The fraction of requests that fail with one of `failFaults`. */
  failRate: number;
  failFaults: readonly FaultName[];
  logRequests: number;
  logBodyChars: number;
  /** Whether the quotes of the simulated enclave lack the debug bit. */
  teeLookalike: boolean;
}

export const DEFAULT_OPTIONS: SimulatorOptions = {
  host: '127.0.0.1',
  port: 4000,
  seed: 0,
  models: undefined,
  ttftMs: 0,
  itlMs: 0,
  jitter: 0,
  prefillUsPerToken: 0,
  serialPrefill: false,
  batchKnee: 0,
  outputTokens: 32,
  reasoningTokens: 16,
  contextTokens: 0,
  maxParallel: 0,
  maxQueue: 1000,
  queueFullStatus: 503,
  prefixCache: true,
  cacheMinTokens: 64,
  cacheBlocks: 65_536,
  failRate: 0,
  failFaults: ['500'],
  logRequests: 500,
  logBodyChars: 65_536,
  teeLookalike: false,
};

type NumberField = {
  [F in keyof SimulatorOptions]: SimulatorOptions[F] extends number ? F : never;
}[keyof SimulatorOptions];

interface NumberFlag {
  readonly field: NumberField;
  readonly max: number;
  readonly isWhole: boolean;
  readonly help: string;
}

const TEN_MINUTES_MS = 600_000;
const MILLION = 1_000_000;

function whole(field: NumberField, max: number, help: string): NumberFlag {
  return { field, max, isWhole: true, help };
}

function decimal(field: NumberField, max: number, help: string): NumberFlag {
  return { field, max, isWhole: false, help };
}

const NUMBER_FLAGS: { readonly [flag: string]: NumberFlag } = {
  port: whole('port', 65_535, 'port to listen on; 0 selects a free port'),
  seed: whole('seed', Number.MAX_SAFE_INTEGER, 'seed of completions, jitter and random faults'),
  'ttft-ms': decimal('ttftMs', TEN_MINUTES_MS, 'time to the first token'),
  'itl-ms': decimal('itlMs', TEN_MINUTES_MS, 'time between two tokens'),
  jitter: decimal('jitter', 1, 'fraction by which each wait varies'),
  'prefill-us-per-token': decimal(
    'prefillUsPerToken',
    MILLION,
    'prefill time per uncached prompt token, microseconds',
  ),
  'batch-knee': whole('batchKnee', MILLION, 'more sequences than this slow down decoding; 0 for never'),
  'output-tokens': whole('outputTokens', MILLION, 'tokens of a completion if the request sets no limit'),
  'reasoning-tokens': whole('reasoningTokens', MILLION, 'reasoning tokens of models that reason'),
  'context-tokens': whole('contextTokens', Number.MAX_SAFE_INTEGER, 'reject longer prompts; 0 for no limit'),
  'max-parallel': whole('maxParallel', MILLION, 'requests served at once; 0 for no limit'),
  'max-queue': whole('maxQueue', MILLION, 'requests that may wait for a slot'),
  'queue-full-status': whole('queueFullStatus', 599, 'status when the queue is full: 503 or 429'),
  'cache-min-tokens': whole('cacheMinTokens', MILLION, 'fewer cached tokens than this are reported as 0'),
  'cache-blocks': whole('cacheBlocks', 10 * MILLION, 'capacity of the prefix cache in blocks of 64 tokens'),
  'fail-rate': decimal('failRate', 1, 'fraction of requests that fail'),
  'log-requests': whole('logRequests', MILLION, 'requests kept in the log; 0 turns it off'),
  'log-body-chars': whole('logBodyChars', 64 * MILLION, 'characters kept of each logged body'),
};

const TEXT_FLAGS: { readonly [flag: string]: string } = {
  host: 'address to listen on',
  models: 'comma-separated list; other models get 404. If unset, any id is accepted',
  'fail-faults': 'comma-separated list of faults that --fail-rate chooses from',
};

const BOOLEAN_FLAGS: { readonly [flag: string]: string } = {
  'no-prefix-cache': 'do not cache prompts',
  'serial-prefill': 'compute prompts one after the other',
  'tee-lookalike': 'quotes of the simulated enclave lack the debug bit, for tests of clients',
  help: 'show this text',
};

/** The result of parsing a command line: options, all of its faults, or a request for help. */
export type ParsedOptions =
  | { readonly kind: 'options'; readonly options: SimulatorOptions }
  | { readonly kind: 'faults'; readonly faults: readonly string[] }
  | { readonly kind: 'help' };

/** Parses the command line. Never throws: every fault is listed. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  const flags: { [flag: string]: { type: 'string' | 'boolean' } } = {};
  for (const flag of [...Object.keys(NUMBER_FLAGS), ...Object.keys(TEXT_FLAGS)])
    flags[flag] = { type: 'string' };
  for (const flag of Object.keys(BOOLEAN_FLAGS)) flags[flag] = { type: 'boolean' };
  const { values, positionals } = parseArgs({
    args: [...args],
    options: flags,
    strict: false,
    allowPositionals: true,
  });
  if (values['help'] === true) return { kind: 'help' };
  const faults = positionals.map((text) => `unexpected argument ${text}`);
  const options = { ...DEFAULT_OPTIONS };
  for (const [flag, value] of Object.entries(values)) {
    const fault = setFlag(options, flag, value);
    if (fault !== undefined) faults.push(`--${flag}: ${fault}`);
  }
  faults.push(...optionFaults(options, faults));
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'options', options };
}

function setFlag(options: SimulatorOptions, flag: string, value: unknown): string | undefined {
  const numberFlag = NUMBER_FLAGS[flag];
  if (numberFlag === undefined && TEXT_FLAGS[flag] === undefined && BOOLEAN_FLAGS[flag] === undefined)
    return 'unknown flag';
  if (BOOLEAN_FLAGS[flag] !== undefined) {
    if (flag === 'no-prefix-cache') options.prefixCache = false;
    else if (flag === 'serial-prefill') options.serialPrefill = true;
    else options.teeLookalike = true;
    return value === true ? undefined : 'takes no value';
  }
  if (typeof value !== 'string' || value.trim() === '') return 'needs a value';
  if (numberFlag !== undefined) options[numberFlag.field] = Number(value);
  else if (flag === 'host') options.host = value;
  else if (flag === 'models') options.models = splitList(value);
  else {
    const names = splitList(value);
    const unknown = names.filter((name) => !isFault(name));
    if (unknown.length > 0) return `unknown fault ${unknown.join(', ')}; known: ${FAULTS.join(', ')}`;
    options.failFaults = names.filter(isFault);
  }
  return undefined;
}

/** Every fault of a set of options; empty if all are valid. */
export function optionFaults(options: SimulatorOptions, known: readonly string[] = []): string[] {
  const faults: string[] = [];
  for (const [flag, { field, max, isWhole }] of Object.entries(NUMBER_FLAGS)) {
    const value = options[field];
    const isFine = value >= 0 && value <= max && (!isWhole || Number.isInteger(value));
    if (!isFine) faults.push(`--${flag}: must be ${isWhole ? 'an integer' : 'a number'} from 0 to ${max}`);
  }
  if (options.queueFullStatus !== 503 && options.queueFullStatus !== 429)
    faults.push('--queue-full-status: must be 503 or 429');
  if (options.models?.length === 0) faults.push('--models: needs at least one model');
  if (options.failFaults.length === 0) faults.push('--fail-faults: needs at least one fault');
  return faults.filter((fault) => !known.includes(fault));
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The text of `--help`. */
export function helpText(): string {
  const lines = Object.entries(NUMBER_FLAGS).map(
    ([flag, { field, help }]) => `  --${flag.padEnd(22)}${help} (${DEFAULT_OPTIONS[field]})`,
  );
  const others = Object.entries({ ...TEXT_FLAGS, ...BOOLEAN_FLAGS }).map(
    ([flag, help]) => `  --${flag.padEnd(22)}${help}`,
  );
  return ['Usage: model-simulator [flags]', '', ...lines, ...others].join('\n');
}

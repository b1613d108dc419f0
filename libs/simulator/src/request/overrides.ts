import { invalidRequest } from '../http/api-error.js';
import { isObject } from './chat-request.js';
import { isFault } from './faults.js';
import type { FaultName } from './faults.js';

/** The settings of one request. Absent fields keep the server's setting. */
export interface Overrides {
  ttftMs?: number;
  itlMs?: number;
  jitter?: number;
  outputTokens?: number;
  faults?: readonly FaultName[];
  /** Tokens before a mid-stream fault. */
  after?: number;
  retryAfterS?: number;
  /** The delay of the fault `slow-headers`. */
  delayMs?: number;
  /** The number of reasoning tokens; also makes any model reason. */
  think?: number;
  reasoningDetails?: boolean;
  /** Functions to call. */
  tool?: readonly string[];
  /** The arguments of a call, valid for its schema or not. */
  arguments?: string;
  /** Two tool calls at once. */
  parallel?: boolean;
  /** Responds with the user's own text. */
  echo?: boolean;
}

type Field = keyof Overrides;

/** The most tokens that one request may ask for. */
const MAX_TOKENS = 1_000_000;
const MAX_WAIT_MS = 600_000;

const NUMBERS: { readonly [field in Field]?: { readonly max: number; readonly isWhole: boolean } } = {
  ttftMs: { max: MAX_WAIT_MS, isWhole: false },
  itlMs: { max: MAX_WAIT_MS, isWhole: false },
  jitter: { max: 1, isWhole: false },
  outputTokens: { max: MAX_TOKENS, isWhole: true },
  after: { max: MAX_TOKENS, isWhole: true },
  retryAfterS: { max: 86_400, isWhole: true },
  delayMs: { max: MAX_WAIT_MS, isWhole: false },
  think: { max: MAX_TOKENS, isWhole: true },
};

const NAMES: { readonly [name: string]: Field } = {
  'ttft-ms': 'ttftMs',
  'itl-ms': 'itlMs',
  jitter: 'jitter',
  tokens: 'outputTokens',
  'output-tokens': 'outputTokens',
  fault: 'faults',
  faults: 'faults',
  after: 'after',
  'retry-after': 'retryAfterS',
  'delay-ms': 'delayMs',
  think: 'think',
  'reasoning-details': 'reasoningDetails',
  tool: 'tool',
  arguments: 'arguments',
  parallel: 'parallel',
  echo: 'echo',
};

const DIRECTIVE = /\[\[sim\b([^\]]*)\]\]/g;
const HEADER_PREFIX = 'x-sim-';

/** Parses `x-sim-…` headers. */
export function overridesOfHeaders(headers: { readonly [name: string]: unknown }): Overrides {
  const found: Overrides = {};
  for (const name in headers) {
    if (name.startsWith(HEADER_PREFIX))
      setNamed(found, name.slice(HEADER_PREFIX.length), String(headers[name]));
  }
  return found;
}

/** Parses the settings after the first `;` of a model name, as in `sim-think;fault=500;after=3`. */
export function overridesOfModel(model: string): { id: string; overrides: Overrides } {
  const [id = '', ...settings] = model.split(';');
  const overrides: Overrides = {};
  for (const setting of settings) setPair(overrides, setting.trim());
  return { id, overrides };
}

/** Parses the directives in a text and returns the text without them. */
export function overridesOfText(text: string): { text: string; overrides: Overrides } {
  const overrides: Overrides = {};
  if (!text.includes('[[sim')) return { text, overrides };
  const rest = text.replace(DIRECTIVE, (_, settings: string) => {
    for (const setting of settings.trim().split(/\s+/)) setPair(overrides, setting);
    return '';
  });
  return { text: rest.trim(), overrides };
}

/**
 * Parses the JSON form, camelCase: the `sim` field of a body, or the runtime defaults. Rejects unknown
 * fields.
 */
export function overridesOfJson(value: unknown): Overrides {
  if (value == null) return {};
  if (!isObject(value)) throw refuse('sim', 'an object');
  const found: Overrides = {};
  for (const [key, item] of Object.entries(value)) {
    const field = key === 'fault' ? 'faults' : key;
    const known = Object.values(NAMES).find((name) => name === field);
    if (known === undefined) throw refuse(key, `one of ${[...new Set(Object.values(NAMES))].join(', ')}`);
    setField(found, known, item);
  }
  return found;
}

function setPair(target: Overrides, setting: string): void {
  if (setting === '') return;
  const at = setting.indexOf('=');
  if (at < 0) setNamed(target, setting, 'true');
  else setNamed(target, setting.slice(0, at), setting.slice(at + 1));
}

function setNamed(target: Overrides, name: string, text: string): void {
  const field = NAMES[name];
  if (field === undefined) throw refuse(name, `one of ${Object.keys(NAMES).join(', ')}`);
  setField(target, field, text);
}

function setField(target: Overrides, field: Field, value: unknown): void {
  switch (field) {
    case 'faults':
      target.faults = toList(field, value).map((name) => {
        if (isFault(name)) return name;
        throw refuse(field, `known faults, not ${JSON.stringify(name)}`);
      });
      return;
    case 'tool':
      target.tool = toList(field, value);
      return;
    case 'arguments':
      target.arguments = toText(field, value);
      return;
    case 'reasoningDetails':
    case 'parallel':
    case 'echo':
      target[field] = toBoolean(field, value);
      return;
    case 'ttftMs':
    case 'itlMs':
    case 'jitter':
    case 'outputTokens':
    case 'after':
    case 'retryAfterS':
    case 'delayMs':
    case 'think':
      target[field] = toNumber(field, value);
  }
}

function toNumber(field: Field, value: unknown): number {
  const { max, isWhole } = NUMBERS[field] ?? { max: 0, isWhole: true };
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  const isFine =
    typeof number === 'number' && number >= 0 && number <= max && (!isWhole || Number.isInteger(number));
  if (!isFine) throw refuse(field, `${isWhole ? 'an integer' : 'a number'} from 0 to ${max}`);
  return number;
}

function toBoolean(field: Field, value: unknown): boolean {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw refuse(field, 'true or false');
}

/** Decodes a text, which may percent-encode characters that a setting can't contain. */
function toText(field: string, value: unknown): string {
  if (typeof value !== 'string') throw refuse(field, 'a text');
  try {
    return decodeURIComponent(value);
  } catch {
    throw refuse(field, 'a text whose % are %25');
  }
}

function toList(field: Field, value: unknown): string[] {
  const list: unknown[] =
    typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [undefined];
  return list.map((item) => {
    if (typeof item !== 'string') throw refuse(field, 'a list of names');
    return item.trim();
  });
}

function refuse(field: string, expected: string): Error {
  return invalidRequest(`Simulator setting '${field}': expected ${expected}.`, field, 'sim_setting_invalid');
}

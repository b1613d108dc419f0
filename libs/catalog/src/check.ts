import { CatalogFile } from '@svc/contracts/catalog';
import { CharactersFile } from '@svc/api/characters';
import { RESPONSE_JSON_LIMITS, StartFault, boundedJson } from '@svc/runtime';
import { z } from 'zod';
import { type Changes, catalogChanges, charactersChanges } from './changes.js';
import { keyNames, refusalOf } from './refusal.js';
import { FileError, parsedBy, readYaml } from './yaml-file.js';

/** Deadline of the request for the version in force. */
const CALL_MS = 30_000;

/** What is to be checked, and against what. */
export interface Check {
  readonly path: string;
  /** The version in force: the URL of the operator's API, or a file. */
  readonly against?: string | undefined;
  /** The token for that API. */
  readonly token?: string | undefined;
  /** Whether an API that can't be reached is no fault, as before the first start. */
  readonly mayBeDown?: boolean;
  readonly factor: number;
  /** Whether the processes have an environment variable. */
  readonly isKnown: (name: string) => boolean;
}

/** The result of a check: lines for a person, and why the file would be refused. */
export interface Checked {
  readonly lines: readonly string[];
  readonly refusal: string | undefined;
}

const Running = z.object({ hash: z.string(), content: z.unknown() });

const HEADINGS: Readonly<Record<keyof Changes, string>> = {
  prices: 'Prices',
  models: 'Models',
  limits: 'Limits',
  others: 'Other',
};

/** Checks a catalogue or a file of characters before it is in force. Throws FileError if it is broken. */
export async function checkFile(check: Check): Promise<Checked> {
  const file = await readYaml(check.path, z.unknown());
  if (!file) throw new FileError(`${check.path}: no such file`);
  return isCharacters(file.content)
    ? checkCharacters(file.content, check)
    : checkCatalog(file.content, check);
}

const isCharacters = (content: unknown): boolean =>
  typeof content === 'object' && content !== null && 'characters' in content;

async function checkCatalog(content: unknown, check: Check): Promise<Checked> {
  const after = parsedBy(CatalogFile, content, check.path);
  const running = await inForce('catalog', check);
  const before = running.content && parsedBy(CatalogFile, running.content.value, running.name);
  const { factor, isKnown } = check;
  const names = (file: CatalogFile): string[] => {
    const { backends, searches } = keyNames(file);
    return [...backends, ...searches];
  };
  return {
    lines: [
      `${check.path} is a valid catalogue of ${after.models.length} models`,
      ...(before ? comparison(running.name, catalogChanges(before, after)) : [running.name]),
    ],
    refusal: refusalOf(before, after, { factor, isKnown, names }),
  };
}

async function checkCharacters(content: unknown, check: Check): Promise<Checked> {
  const after = parsedBy(CharactersFile, content, check.path);
  const running = await inForce('characters', check);
  const before = running.content && parsedBy(CharactersFile, running.content.value, running.name);
  return {
    lines: [
      `${check.path} is a valid file of ${after.characters.length} characters`,
      ...(before ? comparison(running.name, charactersChanges(before, after)) : [running.name]),
    ],
    refusal: undefined,
  };
}

function comparison(name: string, changes: Changes): string[] {
  const parts = Object.entries(HEADINGS).flatMap(([part, heading]) => {
    const lines = changes[part as keyof Changes];
    return lines.length === 0 ? [] : [`${heading}:`, ...lines.map((line) => `  ${line}`)];
  });
  return parts.length === 0 ? [`It changes nothing of ${name}`] : [`It changes ${name}:`, ...parts];
}

interface InForce {
  /** Where it is from or, without content, why there is nothing to compare with. */
  readonly name: string;
  readonly content?: { readonly value: unknown };
}

async function inForce(file: 'catalog' | 'characters', check: Check): Promise<InForce> {
  const { against } = check;
  if (against === undefined) return { name: 'Nothing to compare it with: use --against' };
  if (!/^https?:\/\//.test(against)) {
    const other = await readYaml(against, z.unknown());
    if (!other) throw new FileError(`${against}: no such file`);
    return { name: against, content: { value: other.content } };
  }
  const url = `${against.replace(/\/+$/, '').replace(/\/operator\/v1$/, '')}/operator/v1/${file}`;
  const response = await shown(url, check);
  if (typeof response === 'string') return { name: response };
  const { hash, content } = response;
  return { name: `the version in force (${hash})`, content: { value: content } };
}

async function shown(
  url: string,
  { token = '', mayBeDown }: Check,
): Promise<z.infer<typeof Running> | string> {
  let status: number;
  let text: string;
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(CALL_MS) });
    status = response.status;
    text = await response.text();
  } catch (error) {
    const { cause } = error as Error;
    const reason = `${url} does not respond: ${String(cause instanceof Error ? cause.message : error)}`;
    if (mayBeDown) return `Nothing to compare it with: ${reason}`;
    throw new StartFault(reason, { cause: error });
  }
  // A version of the platform without this route has nothing to compare with.
  if (mayBeDown && (status === 404 || status >= 500)) return `Nothing to compare it with: ${url}: ${status}`;
  if (status !== 200) throw new StartFault(`${url}: ${status} ${text.slice(0, 200)}`);
  return Running.parse(boundedJson(text, RESPONSE_JSON_LIMITS));
}

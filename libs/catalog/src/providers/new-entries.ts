import { rename, stat, writeFile } from 'node:fs/promises';
import { CatalogEntry, CatalogFile } from '@svc/contracts/catalog';
import { isSeq, parseDocument, stringify } from 'yaml';
import { z } from 'zod';
import { FileError, parsedBy, readYaml } from '../yaml-file.js';
import type { ListedModel } from './listed-model.js';
import { type HostedProvider, listModels } from './provider-list.js';

/** The most characters of an id: those of a model that a request names. */
const ID_LIMIT = 256;

/** What is to be added. */
export interface Addition extends HostedProvider {
  /** The environment variable with the key, for the backends. */
  readonly keyEnv: string;
  /** Patterns of the ids that are wanted, in which `*` stands for any characters. None: all. */
  readonly only: readonly string[];
  /**
   * A file with members of entries by the id of the model: its `pricing`, or `providerPricing` and `markup`,
   * and what the provider leaves out.
   */
  readonly prices?: string | undefined;
  /** The catalogue that gets the entries; otherwise they are only shown. */
  readonly into?: string | undefined;
}

/** The result of an addition: entries to show or their ids, and lines for a person. */
export interface Added {
  /** Entries as YAML, for somebody to complete. Empty if they are in the catalogue. */
  readonly text: string;
  /** The models that are in the catalogue now. */
  readonly ids: readonly string[];
  /** The models that are left out, with the reason, and prices of models that were not listed. */
  readonly lines: readonly string[];
}

interface Offer {
  readonly id: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

const Members = z.record(z.string(), z.record(z.string(), z.unknown()));

/**
 * Makes entries of a catalogue for the models that a key of a provider can use. Prices are only those that
 * the operator gives: an entry without them is shown with gaps, and never written to a catalogue.
 */
export async function addModels(addition: Addition): Promise<Added> {
  const { prices, into } = addition;
  const members = prices === undefined ? undefined : await readYaml(prices, Members);
  if (prices !== undefined && !members) throw new FileError(`${prices}: no such file`);
  const file = into === undefined ? undefined : await readYaml(into, CatalogFile);
  if (into !== undefined && !file) throw new FileError(`${into}: no such file`);
  const listed = await listModels(addition);
  const given = new Map(Object.entries(members?.value ?? {}));
  const { offers, lines } = select(addition, listed, given);
  for (const id of given.keys())
    if (!listed.some((model) => model.id === id)) lines.push(`${id}: has a price, but is not in the list`);
  if (into === undefined || !file) return { text: shownAs(offers), ids: [], lines };
  const taken = new Set(file.value.models.flatMap(({ id, aliases }) => [id, ...aliases].map(lower)));
  const complete = offers.filter(({ id, entry }) => {
    const reason = taken.has(lower(id)) ? 'is in the catalogue already' : gapsOf(entry);
    if (reason !== undefined) lines.push(`${id}: ${reason}`);
    return reason === undefined;
  });
  if (complete.length > 0) await append(into, file.text, complete);
  return { text: '', ids: complete.map(({ id }) => id), lines };
}

const lower = (name: string): string => name.toLowerCase();

function select(
  addition: Addition,
  listed: readonly ListedModel[],
  given: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
): { offers: Offer[]; lines: string[] } {
  const offers: Offer[] = [];
  const lines: string[] = [];
  for (const model of listed.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    if (!isWanted(model.id, addition.only)) continue;
    const fault = idFault(model.id);
    if (fault !== undefined) lines.push(`${JSON.stringify(model.id.slice(0, ID_LIMIT))}: ${fault}`);
    else if (model.reason !== undefined) lines.push(`${model.id}: ${model.reason}`);
    else offers.push({ id: model.id, entry: entryWith(given.get(model.id), entryOf(model, addition)) });
  }
  for (const pattern of addition.only)
    if (!listed.some(({ id }) => isWanted(id, [pattern])))
      lines.push(`${pattern}: the key can use no such model`);
  return { offers, lines };
}

/** With what the operator gives: its price, or that of the provider and a markup. */
function entryWith(
  given: Readonly<Record<string, unknown>> | undefined,
  { pricing, ...entry }: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return { ...entry, ...(given?.['providerPricing'] === undefined && { pricing }), ...given };
}

/** Whether an id fits one of the patterns. Each part between stars is sought once, from left to right. */
function isWanted(id: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) => fits(id, pattern.split('*')));
}

function fits(id: string, [first = '', ...parts]: readonly string[]): boolean {
  const last = parts.pop();
  if (last === undefined) return id === first;
  if (!id.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = id.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return id.length - last.length >= at && id.endsWith(last);
}

function idFault(id: string): string | undefined {
  if (id.length > ID_LIMIT) return `its id has more than ${ID_LIMIT} characters`;
  const isValid = /^[A-Za-z0-9][A-Za-z0-9._/@:-]*$/.test(id);
  return isValid ? undefined : 'its id has characters that ids of the catalogue cannot have';
}

/** An entry with `null` for what must be known, and is not. */
function entryOf(model: ListedModel, { kind, url, keyEnv }: Addition): Record<string, unknown> {
  const capabilities = Object.fromEntries(
    Object.entries(model.capabilities).filter(([, value]) => value !== undefined),
  );
  return {
    id: model.id,
    name: model.name ?? model.id,
    privacy: 'anonymized',
    contextTokens: model.contextTokens ?? null,
    maxCompletionTokens: model.maxCompletionTokens ?? null,
    ...(Object.keys(capabilities).length > 0 && { capabilities }),
    pricing: { input: null, output: null },
    backends: [
      {
        ...(kind !== 'openai' && { kind }),
        url,
        model: model.id,
        apiKeyEnv: keyEnv,
        ...(model.thinksByBudget === true && { thinking: 'budget' }),
      },
    ],
  };
}

/** What an entry lacks; `undefined` if it is complete. */
function gapsOf(entry: Readonly<Record<string, unknown>>): string | undefined {
  const result = CatalogEntry.safeParse(entry);
  if (result.success) return undefined;
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  return `is incomplete (${faults.join('; ')})`;
}

const HEADING =
  '# Complete what is null: prices are USD per million tokens. Add capabilities that the provider does not\n' +
  '# report. `catalog check` says what is still missing.\n';

const shownAs = (offers: readonly Offer[]): string =>
  HEADING + stringify({ models: offers.map(({ entry }) => entry) });

/** Appends entries to the list of models, keeps comments, and replaces the file as a whole. */
async function append(path: string, text: string, offers: readonly Offer[]): Promise<void> {
  const document = parseDocument(text);
  if (!isSeq(document.get('models'))) throw new FileError(`${path}: models is no list of its own`);
  for (const { entry } of offers) document.addIn(['models'], document.createNode(entry));
  parsedBy(CatalogFile, document.toJS(), path);
  const { mode } = await stat(path);
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, document.toString({ lineWidth: 0 }), { mode, flag: 'wx' });
  await rename(unfinished, path);
}

import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, createLogger } from '@svc/runtime';
import { CATALOGUE, prometheusName } from '@svc/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { pricedCatalog } from '../test/priced-catalog.js';
import type { Catalog } from './catalog.js';
import { type LastGood, LastGoodFolder } from './last-good.js';
import { openCatalog, openCharacters } from './open.js';

/** A file is polled every 2 s; a busy machine takes longer. */
const SOON = { timeout: 30_000 };
const TEST = { timeout: 60_000 };

let dir: string;
let path: string;
let ends: (() => void)[];
let errors: string[];
let logger: Logger;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-operator-file-'));
  path = join(dir, 'catalog.yaml');
  ends = [];
  errors = [];
  logger = createLogger('silent');
  const onError = (_: object, message: string): void => void errors.push(message);
  logger.error = onError as unknown as Logger['error'];
  await write(pricedCatalog());
});

afterEach(async () => {
  end();
  await rm(dir, { recursive: true });
});

const end = (): void => {
  for (const undo of ends.splice(0)) undo();
};

let changes = 0;

/** Each change has another time, as it does for people. */
async function write(content: object | string): Promise<void> {
  await writeFile(path, typeof content === 'string' ? content : stringify(content));
  const at = new Date(Date.now() + (changes += 1) * 1_000);
  await utimes(path, at, at);
}

const kept = (): LastGood => new LastGoodFolder(join(dir, 'last-good'));

const open = (env: Record<string, string> = {}): Promise<Catalog> =>
  openCatalog(
    { SVC_CATALOG: path, SVC_CATALOG_PRICE_FACTOR: 10 },
    { logger, undo: (undo) => void ends.push(undo) },
    { lastGood: kept(), secret: (name) => env[name] },
  );

const priced = (input: number, more: object = {}): object => {
  const { models, ...rest } = pricedCatalog();
  const [big, ...others] = models as object[];
  return { ...rest, ...more, models: [{ ...big, pricing: { input, output: 2 } }, ...others] };
};

const inputOf = (catalog: Catalog): number | undefined => catalog.text.find('big')?.pricing.input;

function metric(name: string): readonly (readonly [number, ...string[]])[] {
  const found = CATALOGUE.find((each) => prometheusName(each) === name);
  if (!found || found.kind === 'histogram') throw new Error(`no gauge ${name}`);
  return found.points().map(({ value, values }) => [value, ...values] as const);
}

describe('a running process', () => {
  it('takes a changed catalogue, and says what it changes', TEST, async () => {
    const catalog = await open();
    const first = catalog.source?.view.hash ?? '';
    await write(priced(2));
    await expect.poll(() => inputOf(catalog), SOON).toBe(2);
    const view = catalog.source?.view;
    expect(view).toMatchObject({ from: 'file', rejected: null });
    expect(view?.changes.join()).toContain('big: input');
    expect(view?.hash).not.toBe(first);
    expect(metric('svc_catalog_info')).toEqual([[1, view?.hash]]);
    expect(metric('svc_catalog_invalid')).toEqual([[0]]);
  });

  it('keeps the catalogue while its file is broken, and says so', TEST, async () => {
    const catalog = await open();
    const before = catalog.source?.view.hash;
    await write('models: [{ id: ');
    await expect.poll(() => metric('svc_catalog_invalid'), SOON).toEqual([[1]]);
    expect(catalog.source?.view).toMatchObject({ hash: before, rejected: { hash: null } });
    expect(inputOf(catalog)).toBe(1);
    expect(errors).toEqual(['the changed file is invalid; the previous version stays in use']);
    await write(pricedCatalog());
    await expect.poll(() => metric('svc_catalog_invalid'), SOON).toEqual([[0]]);
    expect(catalog.source?.view.rejected).toBeNull();
  });

  it('refuses a price that is a thousand times too high until it is confirmed', TEST, async () => {
    const catalog = await open();
    await write(priced(1_000));
    await expect.poll(() => catalog.source?.view.rejected, SOON).not.toBeNull();
    expect(inputOf(catalog)).toBe(1);
    const reason = catalog.source?.view.rejected?.reason ?? '';
    expect(reason).toContain('big: input');
    expect(metric('svc_catalog_invalid')).toEqual([[1]]);
    const [, confirmedPrices] = /confirmedPrices: (prices-\w+)/.exec(reason) ?? [];
    await write(priced(1_000, { confirmedPrices }));
    await expect.poll(() => inputOf(catalog), SOON).toBe(1_000);
    expect(metric('svc_catalog_invalid')).toEqual([[0]]);
  });

  it('refuses a backend whose key is not set', TEST, async () => {
    const keyed = priced(1, {});
    const [big, ...others] = (keyed as { models: object[] }).models;
    const backends = [{ url: 'http://127.0.0.1:1/v1', model: 'm', apiKeyEnv: 'BIG_KEY' }];
    const catalog = await open({ OTHER_KEY: 'x' });
    await write({ ...keyed, models: [{ ...big, backends }, ...others] });
    await expect.poll(() => catalog.source?.view.rejected?.reason, SOON).toContain('BIG_KEY');
    end();
    const knowing = await open({ BIG_KEY: 'x' });
    expect(knowing.backendsOf('big')[0]?.apiKeyEnv).toBe('BIG_KEY');
  });
});

describe('a start', () => {
  it.each([
    ['broken', 'models: 3'],
    ['without models', 'models: []'],
    ['a thousand times dearer', priced(1_000)],
  ])('with a file that is %s uses the last good version, and says so', async (_, content) => {
    const before = (await open()).source?.view.hash;
    end();
    await write(content);
    const catalog = await open();
    expect(inputOf(catalog)).toBe(1);
    expect(catalog.source?.view).toMatchObject({ hash: before, from: 'last-good' });
    expect(catalog.source?.view.rejected?.reason).toBeTruthy();
    expect(metric('svc_catalog_invalid')).toEqual([[1]]);
    expect(errors).toEqual(['the file is invalid; the last good version is in force']);
  });

  it('with a mended file uses that', TEST, async () => {
    await open();
    end();
    await write('models: 3');
    const catalog = await open();
    await write(priced(2));
    await expect.poll(() => inputOf(catalog), SOON).toBe(2);
    expect(catalog.source?.view).toMatchObject({ from: 'file', rejected: null });
  });

  it.each(['not JSON', '{}', '{"hash":"x","content":{"models":[]}}'])(
    'with a broken file and a last good version that is %s fails with every fault',
    async (kept) => {
      await open();
      end();
      await writeFile(join(dir, 'last-good/catalog.json'), kept);
      await write('models: 3');
      await expect(open()).rejects.toThrow(/models: .*tiers: /);
    },
  );

  it('knows what changed while the process did not run', async () => {
    await open();
    end();
    await write(priced(2));
    const { source } = await open();
    expect(source?.lastChange?.changes.join()).toContain('big: input');
    expect(JSON.parse(await readFile(join(dir, 'last-good/catalog.json'), 'utf8'))).toMatchObject({
      hash: source?.view.hash,
    });
  });

  it('whose folder for the last good version cannot be written works all the same', async () => {
    await writeFile(join(dir, 'last-good'), 'a file');
    expect(inputOf(await open())).toBe(1);
  });
});

it('keeps the characters of a broken file in the same way', TEST, async () => {
  path = join(dir, 'characters.yaml');
  const characters = [{ slug: 'one', name: 'One', systemPrompt: 'Be one.' }];
  await write({ characters });
  const config = { SVC_CHARACTERS: path };
  const owner = { env: {}, logger, undo: (undo: () => void) => void ends.push(undo) };
  const running = await openCharacters(config, owner, { lastGood: kept() });
  await write('characters: 3');
  await expect.poll(() => metric('svc_characters_invalid'), SOON).toEqual([[1]]);
  expect(running.find('one')?.name).toBe('One');
  end();
  const started = await openCharacters(config, owner, { lastGood: kept() });
  expect(started.find('one')?.name).toBe('One');
  expect(started.source?.view.from).toBe('last-good');
});

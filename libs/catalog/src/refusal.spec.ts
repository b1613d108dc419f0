import { CatalogFile } from '@svc/contracts/catalog';
import { describe, expect, it } from 'vitest';
import { pricedCatalog } from '../test/priced-catalog.js';
import { priceMark } from './prices.js';
import { refusalOf } from './refusal.js';

type Path = readonly (string | number)[];

/** Members that are numbers in addition to prices, but no prices. */
const NO_PRICE = new Set(['contextTokenThreshold', 'included']);

const names = (file: CatalogFile): string[] =>
  file.models.flatMap(({ backends }) => backends.flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []));
const rules = { factor: 10, names, isKnown: () => false };

const refusal = (before: object, after: object): string | undefined =>
  refusalOf(CatalogFile.parse(before), CatalogFile.parse(after), rules);

/** The places of all numbers that are prices, found in the content and not in a list of names. */
function pricePaths(value: unknown, path: Path = []): Path[] {
  const isPrice = path.some((part) =>
    ['pricing', 'extras', 'price', 'creditUsd', 'errorCredits', 'credits', 'methods'].includes(String(part)),
  );
  if (typeof value === 'number')
    return isPrice && !path.some((part) => NO_PRICE.has(String(part))) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => pricePaths(member, [...path, name]));
}

function changed(path: Path, change: (value: number) => unknown): object {
  const copy = pricedCatalog();
  let place = copy as Record<string | number, unknown>;
  for (const part of path.slice(0, -1)) place = place[part] as typeof place;
  const last = path.at(-1) ?? '';
  const value = change(Number(place[last]));
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy;
}

const PRICES = pricePaths(pricedCatalog());

describe('the refusal of a catalogue', () => {
  it('knows every price: none can be a hundred times higher or lower without being refused', () => {
    expect(PRICES.length).toBeGreaterThan(40);
    for (const path of PRICES) {
      // A price counted in credits is bounded by the schema.
      const isCount = path.some((part) => ['credits', 'errorCredits', 'methods'].includes(String(part)));
      const [times, limit] = isCount ? [5, 2] : [100, 10];
      for (const change of [(value: number) => value * times, (value: number) => value / times]) {
        const after = CatalogFile.safeParse(changed(path, change));
        // What the schema refuses can't come into force.
        if (!after.success) continue;
        const reason = refusalOf(CatalogFile.parse(pricedCatalog()), after.data, { ...rules, factor: limit });
        expect([path.join('.'), reason ?? '']).toEqual([
          path.join('.'),
          expect.stringContaining(`factor of ${limit}`),
        ]);
      }
    }
  });

  it('knows that a price of nothing is not a small change', () => {
    const free = changed(['models', '1', 'pricing', 'input'], () => 0);
    expect(refusal(pricedCatalog(), free)).toMatch(/^small: input, .*: 0 USD per million tokens/);
    expect(refusal(free, pricedCatalog())).toMatch(/^small: input, .*: 0.1 USD per million tokens/);
  });

  it('compares what is charged, so it finds a default that replaces a price', () => {
    const cached = ['models', '0', 'pricing', 'cacheInput'];
    const cheap = changed(cached, () => 0.01);
    expect(
      refusal(
        cheap,
        changed(cached, () => undefined),
      ),
    ).toContain('big: cached input: 1 USD');
  });

  it('compares what a name costs, so it finds an alias or a trait that moves to a dearer model', () => {
    const move = (member: 'aliases' | 'traits') => {
      const copy = pricedCatalog();
      const [big, small] = copy.models as Record<string, unknown>[];
      if (big && small) {
        small[member] = big[member];
        delete big[member];
      }
      return copy;
    };
    const strict = { ...rules, factor: 2 };
    for (const member of ['aliases', 'traits'] as const) {
      const reason = refusalOf(CatalogFile.parse(move(member)), CatalogFile.parse(pricedCatalog()), strict);
      expect(reason).toContain('(now big): input: 1 USD per million tokens instead of 0.1 (× 10)');
    }
  });

  it('accepts changes within the factor, new models and removed ones', () => {
    for (const path of PRICES.filter((each) => each.includes('pricing')))
      expect([
        path,
        refusal(
          pricedCatalog(),
          changed(path, (value) => value * 1.05),
        ),
      ]).toEqual([path, undefined]);
    const { models, ...rest } = pricedCatalog();
    expect(refusal({ ...rest, models: models.slice(0, 1) }, pricedCatalog())).toBeUndefined();
    expect(refusal(pricedCatalog(), { ...rest, models: models.slice(0, 1) })).toBeUndefined();
  });

  it('ends once the prices are confirmed, and only for these prices', () => {
    const dear = changed(['models', '0', 'pricing', 'input'], (value) => value * 1_000);
    const mark = priceMark(CatalogFile.parse(dear));
    expect(refusal(pricedCatalog(), dear)).toContain(`confirmedPrices: ${mark}`);
    expect(refusal(pricedCatalog(), { ...dear, confirmedPrices: mark })).toBeUndefined();
    const dearer = changed(['models', '0', 'pricing', 'input'], (value) => value * 1_001);
    expect(refusal(pricedCatalog(), { ...dearer, confirmedPrices: mark })).toContain('confirmedPrices');
  });

  it('names each new environment variable that is not set, but none that was in use before', () => {
    const keyed = (apiKeyEnv?: string) => ({
      ...pricedCatalog(),
      models: pricedCatalog()
        .models.slice(0, 1)
        .map((model) => ({
          ...(model as object),
          backends: [{ url: 'http://127.0.0.1:1/v1', model: 'm', apiKeyEnv }],
        })),
    });
    expect(refusal(keyed(), keyed('NO_KEY'))).toContain('the environment variable NO_KEY');
    expect(refusal(keyed('NO_KEY'), keyed('NO_KEY'))).toBeUndefined();
    const known = { ...rules, isKnown: (name: string) => name === 'NO_KEY' };
    expect(refusalOf(CatalogFile.parse(keyed()), CatalogFile.parse(keyed('NO_KEY')), known)).toBeUndefined();
  });
});

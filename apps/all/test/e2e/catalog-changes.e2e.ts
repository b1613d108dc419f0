import { readFile, writeFile } from 'node:fs/promises';
import type { OperatorFileView } from '@svc/api/operator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { Platform } from '../platform.js';

/** A file is polled every 2 s; a busy machine takes longer. */
const SOON = { timeout: 30_000 };
const TEST = { timeout: 120_000 };

interface Content {
  models: { id: string; pricing: { input: number } }[];
  confirmedPrices?: string;
}

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start({ env: { SVC_CATALOG_PRICE_FACTOR: '10' }, hasOwnProcess: true });
});
afterAll(() => platform?.stop());

const pathOf = (): string => platform.env['SVC_CATALOG'] ?? '';

async function shown(): Promise<OperatorFileView> {
  return (await platform.operator('GET', '/catalog')).body as OperatorFileView;
}

/** The price in the file multiplied, as a slip of an operator does. */
async function multiply(by: number, confirmedPrices?: string): Promise<void> {
  const content = parse(await readFile(pathOf(), 'utf8')) as Content;
  for (const { pricing } of content.models) pricing.input *= by;
  await writeFile(pathOf(), stringify({ ...content, confirmedPrices }));
}

const priceInForce = async (): Promise<number | undefined> =>
  ((await shown()).content as Content).models[0]?.pricing.input;

describe('a catalogue that is changed while the platform runs', () => {
  it('is refused if a price is a thousand times too high, until the prices are confirmed', TEST, async () => {
    const before = await priceInForce();
    const { hash } = await shown();
    await multiply(1_000);
    await expect.poll(async () => (await shown()).rejected?.reason, SOON).toContain('factor of 10');
    expect(await shown()).toMatchObject({ hash, from: 'file' });
    await expect.poll(() => platform.service.output, SOON).toContain('the changed file is invalid');
    const { rejected } = await shown();
    const [, mark] = /confirmedPrices: (prices-\w+)/.exec(rejected?.reason ?? '') ?? [];
    await multiply(1, mark);
    await expect.poll(priceInForce, SOON).toBe((before ?? 0) * 1_000);
    expect((await shown()).rejected).toBeNull();
  });

  it('is among the actions of operators, with what it changed', TEST, async () => {
    const { hash, changes } = await shown();
    const actions = async (): Promise<unknown> =>
      (await platform.operator('GET', `/actions?action=catalogFile&target=${hash}`)).body;
    await expect
      .poll(actions, SOON)
      .toMatchObject({ data: [{ token: 'file', target: hash, input: { changes } }] });
    expect(changes.join()).toContain('(× 1000)');
  });
});

it('starts with the last good catalogue if the file is broken, and says so', TEST, async () => {
  const { hash } = await shown();
  await platform.service.stop();
  await writeFile(pathOf(), 'models: [');
  await platform.restart();
  expect(await shown()).toMatchObject({ hash, from: 'last-good', rejected: { hash: null } });
  await expect.poll(() => platform.service.output, SOON).toContain('the last good version is in force');
  const { status } = await platform.operator('GET', '/characters');
  expect(status).toBe(200);
});

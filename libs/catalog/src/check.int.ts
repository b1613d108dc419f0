import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { pricedCatalog } from '../test/priced-catalog.js';
import { type Check, type Checked, checkFile } from './check.js';

let dir: string;
let path: string;
let server: Server | undefined;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-check-'));
  path = join(dir, 'new.yaml');
});

afterEach(async () => {
  server?.close();
  server = undefined;
  await rm(dir, { recursive: true });
});

async function check(content: object | string, options: Partial<Check> = {}): Promise<Checked> {
  await writeFile(path, typeof content === 'string' ? content : stringify(content));
  return checkFile({ path, factor: 10, isKnown: () => true, ...options });
}

/** The operator's API of a process with this catalogue, behind this token. */
async function running(content: object, status = 200): Promise<string> {
  server = createServer((request, response) => {
    const isShown =
      request.url === '/operator/v1/catalog' && request.headers.authorization === 'Bearer the-token';
    response.writeHead(isShown ? status : 401).end(JSON.stringify({ hash: 'abc', content }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const dearer = (): object => {
  const { models, ...rest } = pricedCatalog();
  const [big, ...others] = models as object[];
  return { ...rest, models: [{ ...big, pricing: { input: 1_000, output: 2 } }, ...others] };
};

it('reports every fault of a broken catalogue', async () => {
  await expect(check('models: 3')).rejects.toThrow(/models: .*tiers: /);
  await expect(check('a: [')).rejects.toThrow(path);
  await expect(checkFile({ path: join(dir, 'none'), factor: 10, isKnown: () => true })).rejects.toThrow(
    'no such file',
  );
});

it('says what would change, and refuses a price that is a thousand times too high', async () => {
  const against = await running(pricedCatalog());
  for (const url of [against, `${against}/`, `${against}/operator/v1`]) {
    const { lines, refusal } = await check(dearer(), { against: url, token: 'the-token' });
    expect(lines).toContain('It changes the version in force (abc):');
    expect(lines.join('\n')).toContain('1000 USD per million tokens instead of 1 (× 1000)');
    expect(refusal).toContain('confirmedPrices');
  }
  const same = await check(pricedCatalog(), { against, token: 'the-token' });
  expect(same).toMatchObject({ refusal: undefined });
  expect(same.lines.at(-1)).toContain('It changes nothing');
});

it('compares with a file too, and without either only validates', async () => {
  const old = join(dir, 'old.yaml');
  await writeFile(old, stringify(pricedCatalog()));
  expect((await check(dearer(), { against: old })).refusal).toContain('confirmedPrices');
  expect((await check(dearer())).refusal).toBeUndefined();
});

it('refuses the name of an environment variable that the processes do not have', async () => {
  const { refusal } = await check(pricedCatalog(), { isKnown: (name) => name !== 'BRAVE_KEY' });
  expect(refusal).toContain('BRAVE_KEY');
});

it('fails if the operator’s API refuses or does not respond, unless that is allowed', async () => {
  const against = await running(pricedCatalog());
  await expect(check(dearer(), { against, token: 'wrong' })).rejects.toThrow('401');
  await expect(check(dearer(), { against, token: 'wrong', mayBeDown: true })).rejects.toThrow('401');
  server?.close();
  const down = 'http://127.0.0.1:1';
  await expect(check(dearer(), { against: down })).rejects.toThrow('does not respond');
  const { lines, refusal } = await check(dearer(), { against: down, mayBeDown: true });
  expect(lines.at(-1)).toContain('Nothing to compare it with');
  expect(refusal).toBeUndefined();
});

it('checks characters by the same command', async () => {
  const one = { slug: 'one', name: 'One', systemPrompt: 'Be one.' };
  const old = join(dir, 'old.yaml');
  await writeFile(old, stringify({ characters: [one] }));
  const { lines } = await check({ characters: [{ ...one, slug: 'two' }] }, { against: old });
  expect(lines).toEqual([
    `${path} is a valid file of 1 characters`,
    `It changes ${old}:`,
    'Other:',
    '  two is new',
    '  one is removed',
  ]);
  await expect(check({ characters: [{ slug: 'x' }] })).rejects.toThrow('systemPrompt');
});

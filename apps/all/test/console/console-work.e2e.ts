import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BillingRequests } from '@svc/api/billing';
import { NANO_PER_USD, parseUsd } from '@svc/contracts/money';
import { chargeOf, startLedger } from '@svc/ledger/testing';
import { type Simulator, startSimulator } from '@svc/simulator';
import { startTestDatabase } from '@svc/storage/testing';
import { Client } from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { Platform } from '../platform.js';
import { Random } from '../random.js';
import { BrowserWindow, CHROMIUM, closeAll, startChromium } from './browser-window.js';

const REQUESTS = 1_000;
const SEED = Number(process.env['SUMS_SEED'] ?? Date.now() % 1_000_000);
const DAY_MS = 86_400_000;
const MODELS = ['test-model', 'other-model'];

const mediaModels = (url: string): object[] => {
  const backends = (model: string, kind = 'openai') => ({ backends: [{ kind, url: `${url}/v1`, model }] });
  const voices = { voices: ['anna', 'ben'], defaultVoice: 'ben', formats: ['wav'], defaultFormat: 'wav' };
  const clips = { durations: ['5s', '10s'], resolutions: ['480p'], aspectRatios: ['16:9'] };
  return [
    { id: 'other-model', pricing: { input: 0.37, output: 1.13 } },
    { id: 'painter', type: 'image', pricing: { generation: 0.01 }, ...backends('any', 'simulator') },
    { id: 'speaker', type: 'tts', ...voices, pricing: { input: 100 }, ...backends('voice') },
    {
      id: 'filmer',
      type: 'video',
      constraints: clips,
      pricing: { perSecond: { '480p': 0.02 } },
      ...backends('clip;delay-ms=2000'),
    },
    {
      id: 'composer',
      type: 'music',
      constraints: { supportsLyrics: true, defaultDuration: 20 },
      pricing: { perSecond: 0.01 },
      ...backends('song;delay-ms=0;media=mp3'),
    },
  ].map((model) => ({ name: model.id, tier: 'XS', ...model }));
};

let browser: Browser;
let database: Awaited<ReturnType<typeof startTestDatabase>>;
let simulator: Simulator;
let client: Client;
let platform: Platform;
let keys: AccountKeys;
const windows: BrowserWindow[] = [];

async function openWindow(): Promise<BrowserWindow> {
  const opened = await BrowserWindow.open(browser, platform.rootUrl);
  windows.push(opened);
  return opened;
}

async function signedIn(): Promise<{ opened: BrowserWindow; page: Page }> {
  const opened = await openWindow();
  await opened.signIn(keys.adminKey);
  return { opened, page: opened.page };
}

/** Charges of the last two days, as the ledger posts them. */
async function spendEarlier(
  { account }: AccountKeys,
  { keyIds, random }: { readonly keyIds: readonly string[]; readonly random: Random },
): Promise<number> {
  const ledger = await startLedger({ url: database.url, consume: false });
  const earlier = Array.from({ length: Math.floor((REQUESTS * 2) / 3) }, () => {
    const model = random.pick(MODELS);
    const lines = ['input', 'output'].map((kind) => {
      const units = random.between(1, 2_000);
      const price = random.between(1, 2_000);
      const amountNano = BigInt(units) * BigInt(price);
      const priceNanoPerMillion = BigInt(price) * 1_000_000n;
      return { sku: `${model}-llm-${kind}-mtoken`, unit: 'token', units, priceNanoPerMillion, amountNano };
    });
    const usdNano = lines.reduce((sum, { amountNano }) => sum + amountNano, 0n);
    const at = new Date(Date.now() - random.between(1, 2) * DAY_MS).toISOString();
    return chargeOf(account.id, usdNano, { at, keyId: random.pick(keyIds), model, lines });
  });
  try {
    await ledger.poster.post(earlier);
  } finally {
    await ledger.stop();
  }
  return earlier.length;
}

/** Sends random requests by three keys on top of charges of earlier days; how many are charged in all. */
async function spend(owner: AccountKeys): Promise<number> {
  const random = new Random(SEED);
  const more = [await owner.create({ description: 'Second' }), await owner.create({ description: 'Third' })];
  const { data } = (await owner.ask('GET')).body;
  const keyIds = data.filter(({ apiKeyType }) => apiKeyType === 'INFERENCE').map(({ id }) => id);
  const earlier = await spendEarlier(owner, { keyIds, random });
  const apiKeys = [owner.account.apiKey, ...more.map(({ apiKey }) => apiKey)];
  const sent = Array.from({ length: REQUESTS - earlier }, () => ({
    apiKey: random.pick(apiKeys),
    isRefused: random.chance(0.08),
    body: {
      model: random.pick(MODELS),
      messages: [{ role: 'user', content: 'word '.repeat(random.between(1, 60)) }],
      max_completion_tokens: random.between(1, 20),
      stream: random.chance(0.3),
    },
  }));
  const left = [...sent];
  const worker = async (): Promise<void> => {
    for (let next = left.pop(); next; next = left.pop()) {
      const { apiKey, isRefused, body } = next;
      await (await platform.chat(apiKey, isRefused ? { ...body, model: 'none' } : body)).text();
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return earlier + sent.filter(({ isRefused }) => !isRefused).length;
}

type RequestRows = BillingRequests['data'];

/** All that the table of requests lists, page by page. */
async function requestsOf(owner: AccountKeys): Promise<RequestRows> {
  const rows: RequestRows = [];
  const path = `${platform.rootUrl}/api/v1/billing/requests?limit=200`;
  for (let cursor: string | null = ''; cursor !== null;) {
    const address: string = cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(address, { headers: { authorization: `Bearer ${owner.adminKey}` } });
    const page = (await response.json()) as BillingRequests;
    rows.push(...page.data);
    cursor = page.nextCursor;
  }
  return rows;
}

/** The sums of a day, model and key. */
function summed(rows: readonly (readonly [name: string, nano: bigint])[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const [name, nano] of rows) sums[name] = (sums[name] ?? 0n) + nano;
  return sums;
}

const nanoOf = (usd: string): bigint => parseUsd(usd) ?? 0n;
const totalOf = (sums: Record<string, bigint>): bigint =>
  Object.values(sums).reduce((total, nano) => total + nano, 0n);

/** The sums of the rows of a CSV file of the usage page. */
function sumsOfCsv(csv: string): Record<string, bigint> {
  const [names = '', ...lines] = csv.trim().split('\r\n');
  const rows = lines.map((line) => {
    const cells = line.split(',');
    const at = (name: string): string => cells[names.split(',').indexOf(name)] ?? '';
    return [`${at('day')} ${at('model')} ${at('keyId')}`, nanoOf(at('usd'))] as const;
  });
  return summed(rows);
}

describe.runIf(CHROMIUM !== undefined)('work in the console', () => {
  beforeAll(async () => {
    [browser, database, simulator] = await Promise.all([
      startChromium(),
      startTestDatabase(),
      startSimulator(),
    ]);
    client = new Client({ connectionString: database.url });
    await client.connect();
    platform = await Platform.start({
      env: { DATABASE_URL: database.url },
      hasOwnProcess: true,
      models: mediaModels(simulator.url),
    });
    keys = await AccountKeys.of(platform);
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
    await client?.end();
    await database?.stop();
    await simulator?.close();
  });
  afterEach(() => closeAll(windows));

  it('begins without an error in the console of the browser', async () => {
    const opened = await openWindow();
    const errors: string[] = [];
    opened.page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await opened.signIn(keys.adminKey);
    expect(errors).toEqual([]);
  });

  it('makes an image, speech, a video and music at their prices, and keeps them while other pages are open', async () => {
    const { opened, page } = await signedIn();
    await opened.open('Media');
    const before = (await platform.balances(keys.account.id)).usd;
    for (const [title, prompt] of [
      ['Images', 'A lighthouse'],
      ['Speech', 'Good morning'],
      ['Videos', 'Waves at night'],
      ['Music', 'A slow waltz'],
    ] as const) {
      const form = page.getByRole('region', { name: title });
      await form.locator('textarea[name="prompt"]').fill(prompt);
      if (title === 'Videos') await form.getByLabel('Length').selectOption('10s');
      if (title === 'Videos') await form.getByText('Costs $0.20').waitFor();
      await form.getByRole('button', { name: 'Make' }).click();
    }
    await opened.open('Limits');
    await opened.open('Media');
    await page.getByRole('img', { name: 'A lighthouse' }).waitFor();
    for (const name of ['Good morning', 'Waves at night', 'A slow waltz'])
      await page.locator(`[aria-label="${name}"]`).waitFor();
    const shown = await page.evaluate(() => {
      const image = document.querySelector('figure img') as HTMLImageElement;
      const others = [...document.querySelectorAll<HTMLMediaElement>('figure audio, figure video')];
      return [image.naturalWidth > 0, ...others.map(({ src }) => src.startsWith('blob:'))];
    });
    expect(shown).toEqual([true, true, true, true]);
    const after = (await platform.balances(keys.account.id)).usd;
    // 0.01 for the image, 12 characters of 100 USD per million, ten seconds at 0.02, twenty at 0.01.
    expect((parseUsd(before) ?? 0n) - (parseUsd(after) ?? 0n)).toBe(parseUsd('0.4112'));
    expect(await opened.findings()).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await opened.signIn(keys.adminKey);
    await opened.open('Media');
    expect(await page.locator('figure').count()).toBe(0);
  });

  it('shows what is used of the limits as requests are made, and says so when that is not known', async () => {
    const owner = await AccountKeys.of(platform);
    const limits = { models: [{ model: 'test-model', requestsPerMinute: 9, tokensPerMinute: 5_000_000 }] };
    await platform.operator('PUT', `/accounts/${owner.account.id}/limits`, limits);
    const opened = await openWindow();
    const { page } = opened;
    await opened.signIn(owner.adminKey);
    await opened.open('Limits');
    await page.getByRole('progressbar', { name: 'Requests per minute: 0 of 9' }).waitFor();
    const leftMs = 60_000 - (Date.now() % 60_000);
    if (leftMs < 20_000) await sleep(leftMs + 50);
    const body = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };
    for (let time = 0; time < 2; time += 1) await (await platform.chat(owner.account.apiKey, body)).text();
    await page.getByRole('progressbar', { name: 'Requests per minute: 2 of 9' }).waitFor();
    expect(await opened.findings()).toEqual([]);
    await page.route('**/rate_limits/usage', (route) =>
      route.fulfill({ json: { data: { counted: false, models: [] } } }),
    );
    await page.getByText('What is used now is not known').waitFor();
    await page
      .getByRole('row', { name: /^test-model/ })
      .getByText('9', { exact: true })
      .waitFor();
    expect(await opened.findings()).toEqual([]);
  });

  it('gives a key models to fall back to, and takes them away again', async () => {
    const owner = await AccountKeys.of(platform);
    const opened = await openWindow();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    const models = dialog.getByLabel('Models to fall back to');
    const fallbacks = async (): Promise<(string[] | undefined)[]> => {
      const { data } = (await owner.ask('GET')).body;
      const key = data.find(({ description }) => description === 'With fallbacks');
      const { fallbackModels, fallbackOn } = key as { fallbackModels?: string[]; fallbackOn?: string[] };
      return [fallbackModels, fallbackOn];
    };
    await opened.signIn(owner.adminKey);
    await opened.open('Keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await dialog.getByLabel('Description').fill('With fallbacks');
    await dialog.getByText('Fallback models', { exact: true }).click();
    await models.fill('second-model, third-model');
    await dialog.getByText('Also when the prompt is too long for a model').click();
    expect(await opened.findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText('falls back to second-model, third-model').waitFor();
    expect(await fallbacks()).toEqual([['second-model', 'third-model'], ['context_length_exceeded']]);
    await page.getByRole('button', { name: 'Edit: With fallbacks' }).click();
    expect(await models.inputValue()).toBe('second-model\nthird-model');
    await models.fill('');
    await dialog.getByText('Also when the prompt is too long for a model').click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('falls back to').waitFor({ state: 'detached' });
    expect(await fallbacks()).toEqual([undefined, undefined]);
  });

  it('asks for the key again before an old session gives power away, and changes nothing without it', async () => {
    const { opened, page } = await signedIn();
    await client.query(`UPDATE gateway.console_sessions SET proven_at = now() - interval '16 minutes'`);
    await opened.open('Keys');
    const create = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByLabel('Description').fill('By an old session');
      await page.getByText('ADMIN: also manages the account').click();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
    };
    const question = page.getByRole('dialog', { name: 'Is it still you?' });
    await create();
    await question.waitFor();
    expect(await opened.findings()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByText('Nothing was changed.').waitFor();
    expect((await keys.ask('GET')).body.data.map(({ description }) => description)).not.toContain(
      'By an old session',
    );
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await question.getByLabel('API key').fill(`${keys.adminKey.slice(0, -1)}x`);
    await question.getByRole('button', { name: 'Continue' }).click();
    await question.getByRole('alert').waitFor();
    await question.getByLabel('API key').fill(keys.adminKey);
    await question.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('region', { name: 'API key' }).waitFor();
  });

  it(`shows ${REQUESTS} random requests of three days whose costs add up everywhere (seed ${SEED})`, async () => {
    const owner = await AccountKeys.of(platform);
    const charged = await spend(owner);
    const rows = await requestsOf(owner);
    expect(rows).toHaveLength(charged);
    const sums = summed(
      rows.map(({ timestamp, modelName, apiKeyId, usd }) => [
        `${timestamp.slice(0, 10)} ${modelName} ${apiKeyId}`,
        nanoOf(usd.toFixed(9)),
      ]),
    );
    // Three days, two models and three keys, or one more day if it is midnight meanwhile.
    expect(Object.keys(sums).length).toBeGreaterThanOrEqual(18);
    const spentNano = totalOf(sums);
    expect(10n * NANO_PER_USD - nanoOf((await platform.balances(owner.account.id)).usd)).toBe(spentNano);
    const { rows: booked } = await client.query<{ nano: string }>(
      'SELECT sum(usd_nano)::text AS nano FROM ledger.charges WHERE account_id = $1',
      [owner.account.id],
    );
    expect(booked).toEqual([{ nano: String(spentNano) }]);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
    const opened = await openWindow();
    const { page } = opened;
    await opened.signIn(owner.adminKey);
    await opened.open('Usage');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).click();
    expect(sumsOfCsv(await readFile(await (await saved).path(), 'utf8'))).toEqual(sums);
    const total = page.getByRole('row', { name: /^Total/ });
    const digits = String(spentNano).padStart(10, '0');
    const shown = `$${digits.slice(0, -9)}.${digits.slice(-9)}`;
    for (const group of ['By key', 'By day', 'By model']) {
      await page.getByText(group, { exact: true }).click();
      await total.getByText(shown).waitFor();
    }
  });
});

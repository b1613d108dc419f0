import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { NANO_PER_USD, parseUsd } from '@svc/contracts/money';
import { type Simulator, startSimulator } from '@svc/simulator';
import { startTestDatabase } from '@svc/storage/testing';
import { Client } from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { Platform } from '../platform.js';
import { BrowserWindow, CHROMIUM, closeAll, startChromium } from './browser-window.js';

const REQUESTS = 1_000;
const CHARGED = REQUESTS - Math.ceil(REQUESTS / 13);

const mediaModels = (url: string): object[] => {
  const backends = (model: string, kind = 'openai') => ({ backends: [{ kind, url: `${url}/v1`, model }] });
  const voices = { voices: ['anna', 'ben'], defaultVoice: 'ben', formats: ['wav'], defaultFormat: 'wav' };
  const clips = { durations: ['5s', '10s'], resolutions: ['480p'], aspectRatios: ['16:9'] };
  return [
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

/** Sends requests of several lengths by two keys; every thirteenth is refused. */
async function spend(owner: AccountKeys): Promise<void> {
  const by = [owner.account.apiKey, (await owner.create({ description: 'The second key' })).apiKey];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < REQUESTS; at = next++) {
      const messages = [{ role: 'user', content: 'word '.repeat(((at * 7) % 41) + 1) }];
      const body = { model: at % 13 === 0 ? 'none' : 'test-model', messages };
      const more = { max_completion_tokens: 1 + (at % 17), stream: at % 3 === 0 };
      await (await platform.chat(by[at % 2] ?? '', { ...body, ...more })).text();
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

interface RequestRows {
  readonly data: { usd: number; diem: number }[];
  readonly nextCursor: string | null;
}

/** All that the table of requests lists, page by page. */
async function requestsOf(owner: AccountKeys): Promise<RequestRows['data']> {
  const rows: RequestRows['data'] = [];
  const path = `${platform.rootUrl}/api/v1/billing/requests?limit=200`;
  for (let cursor: string | null = ''; cursor !== null;) {
    const address: string = cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(address, { headers: { authorization: `Bearer ${owner.adminKey}` } });
    const page = (await response.json()) as RequestRows;
    rows.push(...page.data);
    cursor = page.nextCursor;
  }
  return rows;
}

const sumOf = (rows: RequestRows['data']): bigint =>
  rows.reduce((sum, { usd }) => sum + (parseUsd(usd.toFixed(9)) ?? 0n), 0n);

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

  it(`shows ${REQUESTS} requests whose costs add up to what the balance has lost, in each of its tables`, async () => {
    const owner = await AccountKeys.of(platform);
    await spend(owner);
    const { usd } = await platform.balances(owner.account.id);
    const lostNano = 10n * NANO_PER_USD - (parseUsd(usd) ?? 0n);
    const rows = await requestsOf(owner);
    expect(rows).toHaveLength(CHARGED);
    expect(sumOf(rows)).toBe(lostNano);
    const opened = await openWindow();
    const { page } = opened;
    await opened.signIn(owner.adminKey);
    await opened.open('Usage');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).click();
    const csv = await readFile(await (await saved).path(), 'utf8');
    const [names = '', ...lines] = csv.trim().split('\r\n');
    const at = names.split(',').indexOf('usd');
    const csvNano = lines.reduce((total, line) => total + (parseUsd(line.split(',')[at] ?? '') ?? 0n), 0n);
    expect(lines).toHaveLength(2);
    expect(csvNano).toBe(lostNano);
    const total = page.getByRole('row', { name: /^Total/ });
    expect(await total.textContent()).toContain(`$0.${String(lostNano).padStart(9, '0')}`);
  });
});

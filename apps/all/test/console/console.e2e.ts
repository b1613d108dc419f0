import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConsoleBrowser } from '../console-browser.js';
import { Platform, type TestAccount } from '../platform.js';
import { ScriptedBackend, scriptMessage } from '../scripted-backend.js';
import { Engine } from '../search-engine.js';
import { BrowserWindow, CHROMIUM, closeAll, startChromium } from './browser-window.js';

let browser: Browser;
let platform: Platform;
let scripted: ScriptedBackend;
const engine = new Engine();
let account: TestAccount;
let adminKey: string;
const windows: BrowserWindow[] = [];

const PAGES = [
  'Overview',
  'Playground',
  'Keys',
  'Webhooks',
  'Usage',
  'Users',
  'Requests',
  'Limits',
  'Models',
  'Media',
  'Credit',
  'Sessions',
];
const SCHEMES = ['light', 'dark'] as const;

/** What would run if a text became HTML or a script. */
const PAYLOADS = [
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '[link](javascript:alert(1))',
  '"><svg onload=alert(1)>',
];

const keyOf = async ({ id }: TestAccount, apiKeyType: string): Promise<string> => {
  const created = await platform.operator('POST', `/accounts/${id}/api_keys`, {
    apiKeyType,
    description: `${apiKeyType} key`,
  });
  return String(created.body['apiKey']);
};

/** A window; what must not happen in it fails the test. */
async function openWindow(options?: Parameters<typeof BrowserWindow.open>[2]): Promise<BrowserWindow> {
  const opened = await BrowserWindow.open(browser, platform.rootUrl, options);
  windows.push(opened);
  return opened;
}

describe.runIf(CHROMIUM !== undefined)('the console', () => {
  beforeAll(async () => {
    [browser, scripted] = await Promise.all([startChromium(), ScriptedBackend.start(), engine.start()]);
    platform = await Platform.start({
      hasOwnProcess: true,
      models: [
        { id: 'scripted', backends: [{ url: scripted.url, model: 'scripted' }] },
        { id: 'searching', capabilities: { supportsWebSearch: true } },
      ],
      web: { search: { providers: [{ kind: 'searxng', url: engine.url }], cacheSeconds: 0, results: 4 } },
    });
    account = await platform.account('10.00');
    adminKey = await keyOf(account, 'ADMIN');
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
    await scripted?.close();
    await engine.close();
  });
  afterEach(() => closeAll(windows));

  it('leads from a key to a charged request, and shows its cost to nine decimals', async () => {
    const opened = await openWindow();
    const { page } = opened;
    await opened.signIn(adminKey);
    await opened.open('Keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Description').fill('Made in a browser');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'Copy: API key' }).click();
    const apiKey = await page.evaluate(() => navigator.clipboard.readText());
    expect(apiKey).toMatch(/^SVC_INFERENCE_KEY_/);
    const body = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };
    const completion = await platform.chat(apiKey, body);
    const { id, cost } = (await completion.json()) as { id: string; cost: { usd: number } };
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await opened.visit(`requests?id=${id}`);
    await opened.heading('Requests');
    await page
      .getByText(`$${cost.usd.toFixed(9)}`)
      .first()
      .waitFor();
    await page.getByRole('cell', { name: 'Made in a browser' }).waitFor();
  });

  it('streams a response in the playground with its reasoning, cost and the balance after it', async () => {
    const opened = await openWindow();
    const { page } = opened;
    await opened.signIn(adminKey);
    await opened.open('Playground');
    await page.getByLabel('Model').selectOption('scripted');
    const delta = (value: object, finish: string | null = null) => ({
      choices: [{ index: 0, delta: value, finish_reason: finish }],
    });
    const script = {
      chunks: [
        delta({ role: 'assistant', reasoning_content: 'First the tide.' }),
        ...PAYLOADS.map((text) => delta({ content: `${text}\n\n` })),
        delta({ content: '**Done**' }, 'stop'),
        { choices: [], usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 } },
      ],
    };
    await page.getByLabel('Message').fill(scriptMessage(script).content);
    await page.keyboard.press('Enter');
    const response = page.getByRole('article', { name: 'Response' });
    await response.getByText('100 in, 50 out').waitFor();
    expect(await response.locator('strong').first().textContent()).toBe('Done');
    expect(await response.locator('img, script, svg').count()).toBe(0);
    await response.getByText('Reasoning').click();
    await response.getByText('First the tide.').waitFor();
    // 100 tokens at 0.15 and 50 at 0.60 USD per million.
    await response.getByText('$0.000045000').waitFor();
    const { usd } = await platform.balances(account.id);
    await page.getByLabel('Settings').getByText(`$${usd}`).waitFor();
  });

  it('shows the titles of citations as texts, and links to web addresses only', async () => {
    const [, script = '', link = ''] = PAYLOADS;
    engine.pages = PAYLOADS.map((title) => ({
      title,
      url: title === link ? 'https://script.example/' : `https://cited.example/?q=${title}`,
      content: title,
    }));
    const opened = await openWindow();
    const { page } = opened;
    await opened.signIn(adminKey);
    await opened.open('Playground');
    // The service takes tags out of titles, and other addresses than those of the web; here they come back.
    await page.route('**/chat/completions', async (route) => {
      const response = await route.fetch();
      const body = (await response.text())
        .replaceAll('"cited.example"', JSON.stringify(script))
        .replaceAll('"https://script.example/"', '"javascript:alert(1)"');
      await route.fulfill({ response, body });
    });
    await page.getByLabel('Model').selectOption('searching');
    await page.getByLabel('Web search').selectOption('on');
    await page.getByLabel('Message').fill('Who is cited?');
    await page.keyboard.press('Enter');
    const response = page.getByRole('article', { name: 'Response' });
    await response.getByRole('link', { name: 'Request', exact: true }).waitFor();
    const cited = response.getByRole('listitem');
    const titles = await cited.allTextContents();
    expect(titles).toEqual(expect.arrayContaining([script, link]));
    const addresses = await cited
      .getByRole('link')
      .evaluateAll((links) => links.map((each) => new URL((each as HTMLAnchorElement).href).origin));
    expect(addresses).toEqual(Array(titles.length - 1).fill('https://cited.example'));
    expect(await response.locator('img, script, svg').count()).toBe(0);
    expect(await opened.findings()).toEqual([]);
  });

  it('shows a new key once, and keeps nothing of it', async () => {
    const opened = await openWindow();
    const { page } = opened;
    await opened.signIn(adminKey);
    await opened.open('Keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Description').fill(PAYLOADS[0] ?? '');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const secret = (await page.getByRole('region', { name: 'API key' }).textContent()) ?? '';
    expect(secret).toMatch(/^SVC_INFERENCE_KEY_/);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText(secret.slice(-6)).waitFor();
    const kept = await page.evaluate(() =>
      [
        document.documentElement.outerHTML,
        location.href,
        JSON.stringify(history.state),
        JSON.stringify(localStorage),
        JSON.stringify(sessionStorage),
        JSON.stringify(performance.getEntries()),
      ].join('\n'),
    );
    expect(kept).not.toContain(secret);
    expect(await platform.log()).not.toContain(secret);
  });

  it('changes, rotates and revokes a key, and the API follows', async () => {
    const owner = await platform.account('10.00');
    const admin = await keyOf(owner, 'ADMIN');
    const created = await platform.operator('POST', `/accounts/${owner.id}/api_keys`, {
      apiKeyType: 'INFERENCE',
      description: 'Nightly job',
    });
    const first = String(created.body['apiKey']);
    const body = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };
    const statusOf = async (key: string): Promise<number> => (await platform.chat(key, body)).status;
    const opened = await openWindow();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    await opened.signIn(admin);
    await opened.open('Keys');
    await page.getByRole('button', { name: 'Edit: Nightly job' }).click();
    await page.getByLabel('Requests per minute').fill('7');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('7 requests/min').waitFor();
    await page.getByRole('button', { name: 'Rotate: Nightly job' }).click();
    await dialog.getByText('Ends at once').click();
    await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
    const second = (await page.getByRole('region', { name: 'API key' }).textContent()) ?? '';
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await expect.poll(() => statusOf(first)).toBe(401);
    expect(await statusOf(second)).toBe(200);
    await page.getByRole('button', { name: 'Revoke: Nightly job' }).click();
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => statusOf(second)).toBe(401);
    await page.getByRole('button', { name: 'Revoke: Nightly job' }).waitFor({ state: 'detached' });
  });

  it('restricts a key, and the API refuses what it may not do', async () => {
    const owner = await platform.account('10.00');
    const admin = await keyOf(owner, 'ADMIN');
    const created = await platform.operator('POST', `/accounts/${owner.id}/api_keys`, {
      apiKeyType: 'INFERENCE',
      description: 'Handed out',
    });
    const body = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };
    const statusOf = async (): Promise<number> =>
      (await platform.chat(String(created.body['apiKey']), body)).status;
    const opened = await openWindow();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    const save = async (): Promise<void> => {
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await opened.signIn(admin);
    await opened.open('Keys');
    await page.getByRole('button', { name: 'Edit: Handed out' }).click();
    await dialog.getByText('Restrictions').click();
    await dialog.getByLabel('Endpoints').fill('/embeddings, /images/*');
    await save();
    await page.getByText('2 endpoints').waitFor();
    await expect.poll(statusOf).toBe(403);
    await page.getByRole('button', { name: 'Edit: Handed out' }).click();
    expect(await dialog.getByLabel('Endpoints').inputValue()).toBe('/embeddings\n/images/*');
    await dialog.getByLabel('Endpoints').fill('');
    await dialog.getByLabel('Tags').fill('a team\n\nproduction');
    await dialog.getByLabel('Disabled until you enable it').check();
    expect(await opened.findings()).toEqual([]);
    await save();
    await page.getByText('disabled', { exact: true }).waitFor();
    await page.getByText('a team', { exact: true }).waitFor();
    await expect.poll(statusOf).toBe(401);
    await page.getByRole('button', { name: 'Edit: Handed out' }).click();
    await dialog.getByLabel('Disabled until you enable it').uncheck();
    await save();
    await expect.poll(statusOf).toBe(200);
  });

  it('can be used by the keyboard alone, and the focus returns to where it was', async () => {
    const opened = await openWindow();
    const { page } = opened;
    await opened.visit();
    await page.getByLabel('API key').focus();
    await page.keyboard.insertText(adminKey);
    await page.keyboard.press('Enter');
    await opened.heading('Overview');
    await page.getByRole('link', { name: 'Keys', exact: true }).focus();
    await page.keyboard.press('Enter');
    await opened.heading('Keys');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    expect(await focused()).toBe('Create a key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create a key' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused()).toBe('Create a key');
  });

  it('lets the keyboard alone change and rotate a key', async () => {
    const owner = await platform.account('10.00');
    const admin = await keyOf(owner, 'ADMIN');
    const opened = await openWindow();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    const button = (name: string) => dialog.getByRole('button', { name, exact: true });
    await opened.signIn(admin);
    await opened.enter(page.getByRole('link', { name: 'Keys', exact: true }));
    await opened.heading('Keys');
    await opened.enter(page.getByRole('button', { name: 'Edit: ADMIN key' }));
    await opened.type(dialog.getByLabel('Description'), 'By keyboard');
    await opened.type(dialog.getByLabel('Requests per minute'), '70');
    await opened.enter(button('Save'));
    await page.getByText('70 requests/min').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await opened.enter(page.getByRole('button', { name: 'Rotate: By keyboard' }));
    await opened.tabTo(dialog.getByRole('radio', { name: 'Ends in 24 hours' }));
    await page.keyboard.press('ArrowRight');
    expect(await dialog.getByRole('radio', { name: 'Ends at once' }).isChecked()).toBe(true);
    await opened.enter(button('Rotate'));
    const secret = (await page.getByRole('region', { name: 'API key' }).textContent()) ?? '';
    await opened.enter(button('I have copied it'));
    await dialog.waitFor({ state: 'detached' });
    const statusOf = async (apiKey: string): Promise<number> =>
      (await fetch(`${platform.apiUrl}/api_keys`, { headers: { authorization: `Bearer ${apiKey}` } })).status;
    expect(await statusOf(secret)).toBe(200);
    await expect.poll(() => statusOf(admin)).toBe(401);
  });

  it.each(SCHEMES)(
    'has no findings of axe on any page and in dialogs, in %s colours',
    async (colorScheme) => {
      const opened = await openWindow({ colorScheme });
      const { page } = opened;
      await opened.visit();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await opened.findings()).toEqual([]);
      await opened.signIn(adminKey);
      const found: Record<string, string[]> = {};
      for (const name of PAGES) {
        await opened.open(name);
        found[name] = await opened.findings();
      }
      await opened.open('Keys');
      await page.getByRole('button', { name: 'Create a key' }).click();
      found['new key'] = await opened.findings();
      expect(Object.entries(found).filter(([, findings]) => findings.length > 0)).toEqual([]);
    },
  );

  it.each([320, 1_280])('fits into a window of %d pixels, without findings of axe', async (width) => {
    const opened = await openWindow({ viewport: { width, height: 700 } });
    await opened.signIn(adminKey);
    const wider: Record<string, number> = {};
    const found: string[] = [];
    for (const name of PAGES) {
      await opened.visit(name === 'Overview' ? '' : name.toLowerCase());
      await opened.heading(name);
      wider[name] = await opened.overflow();
      found.push(...(await opened.findings()));
    }
    expect(Object.entries(wider).filter(([, pixels]) => pixels > 0)).toEqual([]);
    expect(found).toEqual([]);
  });

  it('shows the holder of an INFERENCE key neither keys nor the account', async () => {
    const opened = await openWindow();
    const { page } = opened;
    await opened.signIn(account.apiKey);
    expect(await page.getByRole('link', { name: 'Keys', exact: true }).count()).toBe(0);
    await opened.visit('keys');
    await opened.heading('No such page');
  });

  it('says that its session has ended when somebody else ends it', async () => {
    const opened = await openWindow();
    await opened.signIn(adminKey);
    const other = await ConsoleBrowser.signedIn(platform, adminKey);
    expect((await other.ask('DELETE', '/sessions')).status).toBe(200);
    await opened.page.getByRole('link', { name: 'Limits', exact: true }).click();
    await opened.page.getByText('Your session has ended').waitFor();
  });

  it('opens by the link that the start prints, which works once and stays in no address', async () => {
    const [link] = /http\S+\/console#link=\S+/.exec(platform.service.output) ?? [''];
    const first = await openWindow();
    await first.page.goto(link);
    await first.heading('Overview');
    expect(first.page.url()).not.toContain('link');
    const second = await openWindow();
    await second.page.goto(link);
    await second.page.getByText('The sign-in link has been used or has expired').waitFor();
  });
});

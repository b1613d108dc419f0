import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { Platform } from '../platform.js';
import { ScriptedBackend, scriptMessage } from '../scripted-backend.js';
import { BrowserWindow, CHROMIUM, closeAll, startChromium } from './browser-window.js';

/** What would run if a text became HTML or a script. */
const PAYLOAD = '<img src=x onerror=alert(1)>';

let browser: Browser;
let scripted: ScriptedBackend;
let platform: Platform;
let keys: AccountKeys;
const windows: BrowserWindow[] = [];

async function signedIn(owner = keys): Promise<{ opened: BrowserWindow; page: Page }> {
  const opened = await BrowserWindow.open(browser, platform.rootUrl);
  windows.push(opened);
  await opened.signIn(owner.adminKey);
  return { opened, page: opened.page };
}

const delta = (value: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: value, finish_reason: finish }],
});

describe.runIf(CHROMIUM !== undefined)('the console when something fails', () => {
  beforeAll(async () => {
    [browser, scripted] = await Promise.all([startChromium(), ScriptedBackend.start()]);
    platform = await Platform.start({
      hasOwnProcess: true,
      models: [{ id: 'scripted', name: PAYLOAD, backends: [{ url: scripted.url, model: 'scripted' }] }],
    });
    keys = await AccountKeys.of(platform);
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
    await scripted?.close();
  });
  afterEach(() => closeAll(windows));

  it('shows the fault of a page in its place, while the others work', async () => {
    const { opened, page } = await signedIn();
    await page.route('**/api_keys/rate_limits', (route) => route.fulfill({ json: { data: {} } }));
    await page.getByRole('link', { name: 'Limits', exact: true }).click();
    await page.getByText('This part of the page has a fault.').waitFor();
    expect(await opened.findings()).toEqual([]);
    await opened.open('Models');
    await page.getByText('test-model', { exact: true }).waitFor();
    await page.unroute('**/api_keys/rate_limits');
    await opened.open('Limits');
    await page.getByRole('row', { name: /^test-model/ }).waitFor();
  });

  it('says that the browser is offline, until it is not', async () => {
    const { opened, page } = await signedIn();
    const note = page.getByText('This browser is offline');
    await page.context().setOffline(true);
    await note.waitFor();
    expect(await opened.findings()).toEqual([]);
    await page.context().setOffline(false);
    await note.waitFor({ state: 'detached' });
    await opened.open('Limits');
  });

  it('keeps what has arrived of a response that breaks, and asks again', async () => {
    const { opened, page } = await signedIn();
    await opened.open('Playground');
    await page.getByLabel('Model').selectOption('scripted');
    const chunks = [delta({ role: 'assistant', content: 'The beginning' })];
    await page.getByLabel('Message').fill(scriptMessage({ chunks, breaks: true }).content);
    await page.keyboard.press('Enter');
    const response = page.getByRole('article', { name: 'Response' });
    await response.getByText('Interrupted').waitFor();
    await response.getByText('The beginning').waitFor();
    await page.getByText('The response failed').waitFor({ state: 'attached' });
    expect(await opened.findings()).toEqual([]);
    const before = scripted.requests.length;
    await response.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => scripted.requests.length).toBeGreaterThan(before);
    await response.getByText('Interrupted').waitFor();
  });

  it('shows the names of models as texts', async () => {
    const { opened, page } = await signedIn();
    await opened.open('Models');
    await page.getByText(PAYLOAD).first().waitFor();
    expect(await page.locator('main :is(img, script)').count()).toBe(0);
  });

  it('has every page for an account that has spent everything, and says so in the playground', async () => {
    const owner = await AccountKeys.of(platform, '0.00');
    const { opened, page } = await signedIn(owner);
    const names = await page.getByRole('navigation').getByRole('link').allTextContents();
    for (const name of names) {
      await opened.open(name);
      expect([name, await page.getByRole('alert').count()]).toEqual([name, 0]);
    }
    await opened.open('Playground');
    await page.getByLabel('Message').fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Add credit' }).waitFor();
  });
});

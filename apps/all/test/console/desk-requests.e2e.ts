import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN } from '../deployment.js';
import { Platform } from '../platform.js';
import { type BrowserWindow, CHROMIUM, closeAll, startChromium } from './browser-window.js';
import { deskAt, giveToken, go, press } from './desk-window.js';

let browser: Browser;
let platform: Platform;
const windows: BrowserWindow[] = [];

describe.runIf(CHROMIUM !== undefined)("the operator's desk", () => {
  beforeAll(async () => {
    browser = await startChromium();
    platform = await Platform.start();
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });
  afterEach(() => closeAll(windows));

  it('follows a request from its hold to its charge', async () => {
    const { id, apiKey } = await platform.account('1.00', { name: 'Streaming' });
    const opened = await deskAt(browser, platform);
    windows.push(opened);
    await giveToken(opened, OPERATOR_TOKEN);
    const { page } = opened;
    await opened.heading('Accounts');
    await go(opened, `/desk?id=${id}`);
    await page.getByRole('tab', { name: 'Under way' }).click();
    await page.getByText('Nothing is held').waitFor();
    const messages = [{ role: 'user', content: 'Hello [[sim tokens=2000 itl-ms=10]]' }];
    const ending = new AbortController();
    const response = await platform.chat(
      apiKey,
      { model: 'test-model', messages, stream: true },
      { signal: ending.signal },
    );
    const requestId = response.headers.get('x-request-id') ?? '';
    await press(opened, 'Look again');
    expect(await opened.findings()).toEqual([]);
    await page.getByRole('link', { name: requestId }).click();
    await opened.heading('Requests');
    await page.getByText('under way', { exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'Hold' }).textContent()).toMatch(/Held\$0\.0*[1-9]/);
    expect(await opened.findings()).toEqual([]);
    ending.abort();
    await expect
      .poll(async () => (await platform.operator('GET', `/charges/${requestId}`)).status, { timeout: 20_000 })
      .toBe(200);
    await press(opened, 'Look again');
    await page.getByRole('region', { name: 'Charge' }).waitFor();
    await go(opened, `/desk?id=${id}`);
    await page.getByRole('tab', { name: 'Under way' }).click();
    await page.getByText('Nothing is held').waitFor();
  });
});

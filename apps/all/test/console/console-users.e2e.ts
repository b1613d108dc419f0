import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { Platform } from '../platform.js';
import { BrowserWindow, CHROMIUM, closeAll, startChromium } from './browser-window.js';
import { answer, closed, press } from './desk-window.js';

const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };

let browser: Browser;
let platform: Platform;
const windows: BrowserWindow[] = [];

describe.runIf(CHROMIUM !== undefined)("an account's own users in the console", () => {
  beforeAll(async () => {
    browser = await startChromium();
    platform = await Platform.start();
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });
  afterEach(() => closeAll(windows));

  it('are listed with what they spent, limited and forgotten', async () => {
    const { account, adminKey } = await AccountKeys.of(platform);
    for (const user of ['alice', 'bob', 'bob'])
      expect((await platform.chat(account.apiKey, { ...HELLO, user })).status).toBe(200);
    const headers = { authorization: `Bearer ${adminKey}` };
    const limits = async (user: string): Promise<unknown> => {
      const response = await fetch(`${platform.apiUrl}/end_users/${user}/limits`, { headers });
      return ((await response.json()) as { data: unknown }).data;
    };
    const opened = await BrowserWindow.open(browser, platform.rootUrl);
    windows.push(opened);
    await opened.signIn(adminKey);
    await opened.open('Users');
    const { page } = opened;
    const users = page.getByRole('cell', { name: /^eu_/ });
    const shown = async (): Promise<number> => {
      await page.reload();
      await opened.heading('Users');
      return users.count();
    };
    await expect.poll(shown, { timeout: 20_000 }).toBe(2);
    expect(await opened.findings()).toEqual([]);
    for (const width of [320, 1_280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await opened.overflow()).toBe(0);
    }
    await page.getByLabel('User', { exact: true }).fill('alice');
    await page.keyboard.press('Tab');
    await press(opened, 'Limits of this user');
    await page.getByLabel('Limit in USD').fill('2.5');
    await page.getByLabel('Within a').selectOption('MONTH');
    await page.getByLabel('Requests per minute').fill('20');
    expect(await opened.findings()).toEqual([]);
    await answer(opened, 'Set');
    await closed(opened);
    expect(await limits('alice')).toMatchObject({
      consumptionLimit: { usd: 2.5, diem: null },
      limitPeriod: 'MONTH',
      requestsPerMinute: 20,
    });
    await press(opened, 'Limits of this user');
    await answer(opened, 'Remove them');
    await closed(opened);
    expect(await limits('alice')).toBeNull();
    await press(opened, 'Limits of all others');
    await page.getByLabel('Tokens per day').fill('9000');
    await answer(opened, 'Set');
    await closed(opened);
    expect(await limits('*')).toMatchObject({ tokensPerDay: 9_000 });

    await users.first().waitFor();
    expect(await users.count()).toBe(1);
    await page.getByRole('button', { name: /^Forget: eu_/ }).click();
    expect(await opened.findings()).toEqual([]);
    await answer(opened, 'Forget');
    await closed(opened);
    await page.getByText('No users in this period').waitFor();
  });
});

import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN } from '../deployment.js';
import { Platform } from '../platform.js';
import { type BrowserWindow, CHROMIUM, closeAll, startChromium } from './browser-window.js';
import { answer, closed, deskAt, giveToken, go, press } from './desk-window.js';

const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };

let browser: Browser;
let platform: Platform;
const windows: BrowserWindow[] = [];

async function openDesk(): Promise<BrowserWindow> {
  const opened = await deskAt(browser, platform);
  windows.push(opened);
  await giveToken(opened, OPERATOR_TOKEN);
  return opened;
}

describe.runIf(CHROMIUM !== undefined)('the terms of an account at the desk', () => {
  beforeAll(async () => {
    browser = await startChromium();
    platform = await Platform.start();
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });
  afterEach(() => closeAll(windows));

  it('sets a stake, and gives back what a request cost in DIEM', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const opened = await openDesk();
    const { page } = opened;
    await opened.heading('Accounts');
    await go(opened, `/desk?id=${id}`);
    await press(opened, 'Set the stake');
    await page.getByLabel('Tokens staked').fill('2.5');
    await answer(opened, 'Set the stake');
    await page.getByText('from 0.00 to 2.5 tokens?').waitFor();
    await answer(opened, 'Set the stake');
    await closed(opened);
    expect(await platform.balances(id)).toMatchObject({ usd: '1.00', diem: '2.50' });
    const completion = await platform.chat(apiKey, HELLO);
    const { id: requestId, cost } = (await completion.json()) as { id: string; cost: { diem: number } };
    expect(cost.diem).toBeGreaterThan(0);
    await press(opened, 'Refund');
    await page.getByLabel('Request id').fill(requestId);
    await page.getByLabel('Amount in DIEM').fill(cost.diem.toFixed(9));
    await page.getByLabel('Reference').fill('complaint-4');
    await page.getByLabel('Reason').fill('The answer was cut off');
    await answer(opened, 'Refund');
    await answer(opened, 'Refund');
    await closed(opened);
    expect(await platform.balances(id)).toMatchObject({ usd: '1.00', diem: '2.50' });
  });

  it("sets an account's own limits, and takes them away again", async () => {
    const { id } = await platform.account('1.00', { name: 'Limited' });
    const limits = async (): Promise<unknown> =>
      (await platform.operator('GET', `/accounts/${id}/limits`)).body;
    const opened = await openDesk();
    const { page } = opened;
    await opened.heading('Accounts');
    await go(opened, `/desk?id=${id}`);
    const [models, requests] = [
      page.getByLabel('Model', { exact: true }),
      page.getByLabel('Requests per minute'),
    ];
    await press(opened, 'Set the limits');
    await page.getByLabel('Requests at once').fill('3');
    await models.fill('test-model');
    await requests.fill('7');
    await answer(opened, 'Add a row');
    await models.nth(1).fill('test-model');
    expect(await opened.findings()).toEqual([]);
    await answer(opened, 'Set the limits');
    await page.getByText('The list of models must name each model once').waitFor();
    await models.nth(1).fill('*');
    await page.getByLabel('Tokens per minute').nth(1).fill('100000');
    await answer(opened, 'Set the limits');
    await closed(opened);
    expect(await limits()).toEqual({
      concurrentRequests: 3,
      models: [
        { model: '*', tokensPerMinute: 100_000 },
        { model: 'test-model', requestsPerMinute: 7 },
      ],
    });
    await press(opened, 'Set the limits');
    await models.nth(2).waitFor();
    expect(await requests.nth(1).inputValue()).toBe('7');
    await page.getByLabel('Requests at once').fill('');
    await models.nth(0).fill('');
    await models.nth(1).fill('');
    await answer(opened, 'Set the limits');
    await closed(opened);
    expect(await limits()).toEqual({ concurrentRequests: null, models: [] });
  });

  it('gives an account models to fall back to', async () => {
    const { id } = await platform.account('10.00', { name: 'Falling back' });
    const opened = await openDesk();
    const { page } = opened;
    await opened.heading('Accounts');
    await go(opened, `/desk?id=${id}`);
    await press(opened, 'Change the terms');
    await page.getByText('Fallback models', { exact: true }).click();
    await page.getByLabel('Models to fall back to').fill('test-model');
    await page.getByText('Also when a content filter refuses').click();
    await answer(opened, 'Save');
    await closed(opened);
    await page.getByText('Falls back to').waitFor();
    const { body } = await platform.operator('GET', `/accounts/${id}`);
    expect(body).toMatchObject({ fallbackModels: ['test-model'], fallbackOn: ['content_filter'] });
  });
});

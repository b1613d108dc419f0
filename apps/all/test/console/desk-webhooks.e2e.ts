import { hash } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN } from '../deployment.js';
import { Platform } from '../platform.js';
import { WebhookReceiver } from '../webhook-receiver.js';
import { type BrowserWindow, CHROMIUM, closeAll, startChromium } from './browser-window.js';
import { answer, closed, deskAt, giveToken, press } from './desk-window.js';

const READER = 'operator-token-of-a-reader-in-a-test';
const TOKENS = [{ name: 'reader', scopes: ['read'], sha256: hash('sha256', READER) }];

let browser: Browser;
let receiver: WebhookReceiver;
let platform: Platform;
const windows: BrowserWindow[] = [];

async function openPage(token: string): Promise<BrowserWindow> {
  const opened = await deskAt(browser, platform);
  windows.push(opened);
  await giveToken(opened, token);
  await opened.heading('Accounts');
  await opened.open('Webhooks');
  return opened;
}

describe.runIf(CHROMIUM !== undefined)("the operator's webhooks at the desk", () => {
  beforeAll(async () => {
    [browser, receiver] = await Promise.all([startChromium(), WebhookReceiver.start()]);
    const env = {
      GATEWAY_WEBHOOK_PRIVATE_HOSTS: receiver.host,
      SVC_OPERATOR_TOKENS: JSON.stringify(TOKENS),
    };
    platform = await Platform.start({ env, hasOwnProcess: true });
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
    receiver?.stop();
  });
  afterEach(() => closeAll(windows));

  it('are added, tested, rotated and deleted; a token that only reads is offered none of that', async () => {
    const opened = await openPage(OPERATOR_TOKEN);
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    const url = `${receiver.url}/desk`;
    const secretShown = async (): Promise<string> => {
      const secret = (await dialog.getByRole('region', { name: 'Secret' }).textContent()) ?? '';
      await answer(opened, 'I have copied it');
      await closed(opened);
      return secret;
    };
    await press(opened, 'Add an endpoint');
    await dialog.getByLabel('URL').fill(url);
    await dialog.getByText('An audit finds the books wrong').click();
    expect(await opened.findings()).toEqual([]);
    await answer(opened, 'Add');
    const secret = await secretShown();
    await page.getByRole('cell', { name: 'ledger.audit_failed' }).waitFor();
    expect(await opened.findings()).toEqual([]);
    await press(opened, `Deliveries: ${url}`);
    await answer(opened, 'Send a test');
    await dialog.getByText('delivered', { exact: true }).waitFor();
    const [first] = receiver.at('/desk');
    const received = [first?.body ?? '', first?.headers as Record<string, string>] as const;
    expect(new Webhook(secret).verify(...received)).toMatchObject({ type: 'webhook.test' });
    await answer(opened, 'Close');
    await press(opened, `Rotate: ${url}`);
    await answer(opened, 'Rotate');
    expect(await secretShown()).not.toBe(secret);

    const read = await openPage(READER);
    await read.page.getByText('Changing an endpoint needs a token with the scope “keys”.').waitFor();
    await read.page.getByRole('cell', { name: url, exact: true }).waitFor();
    expect(await read.page.getByRole('button', { name: /^(?:Add|Edit|Rotate|Delete)/ }).count()).toBe(0);
    await press(read, `Deliveries: ${url}`);
    await read.page.getByText('delivered', { exact: true }).waitFor();
    expect(await read.page.getByRole('button', { name: /^(?:Repeat|Send)/ }).count()).toBe(0);

    await press(opened, `Delete: ${url}`);
    await answer(opened, 'Delete');
    await page.getByText('No endpoints').waitFor();
  });
});

import { Mailbox } from '@svc/testing';
import OpenAI from 'openai';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { Platform } from '../platform.js';
import { WebhookReceiver } from '../webhook-receiver.js';
import { BrowserWindow, CHROMIUM, closeAll, startChromium } from './browser-window.js';

let browser: Browser;
let receiver: WebhookReceiver;
let mailbox: Mailbox;
let platform: Platform;
let keys: AccountKeys;
const windows: BrowserWindow[] = [];

async function openPage(): Promise<BrowserWindow> {
  const opened = await BrowserWindow.open(browser, platform.rootUrl);
  windows.push(opened);
  await opened.signIn(keys.adminKey);
  await opened.open('Webhooks');
  return opened;
}

describe.runIf(CHROMIUM !== undefined)('webhooks in the console', () => {
  beforeAll(async () => {
    [browser, receiver, mailbox] = await Promise.all([
      startChromium(),
      WebhookReceiver.start(),
      Mailbox.start(),
    ]);
    platform = await Platform.start({
      env: {
        GATEWAY_WEBHOOK_PRIVATE_HOSTS: receiver.host,
        GATEWAY_SMTP_HOST: '127.0.0.1',
        GATEWAY_SMTP_PORT: String(mailbox.port),
        GATEWAY_SMTP_TLS: 'off',
        GATEWAY_SMTP_FROM: 'notices@svc.example',
      },
      hasOwnProcess: true,
    });
    keys = await AccountKeys.of(platform);
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
    receiver?.stop();
    await mailbox?.stop();
  });
  afterEach(() => closeAll(windows));

  it('are added with a secret shown once, tested, replayed, changed, rotated and deleted', async () => {
    const opened = await openPage();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    const url = `${receiver.url}/console`;
    const secretShown = async (): Promise<string> => {
      const secret = (await dialog.getByRole('region', { name: 'Secret' }).textContent()) ?? '';
      expect(await opened.findings()).toEqual([]);
      await dialog.getByRole('button', { name: 'I have copied it' }).click();
      await dialog.waitFor({ state: 'detached' });
      return secret;
    };
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await dialog.getByLabel('URL').fill(url);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('Choose at least one event.').waitFor();
    await dialog.getByText('A charge is refunded').click();
    expect(await opened.findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const secret = await secretShown();
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole('cell', { name: 'refund.created' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    for (const width of [320, 1_280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await opened.overflow()).toBe(0);
    }

    await page.getByRole('button', { name: `Deliveries: ${url}` }).click();
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await dialog.getByText('delivered', { exact: true }).waitFor();
    expect(await opened.findings()).toEqual([]);
    expect(await opened.overflow()).toBe(0);
    await dialog.getByRole('button', { name: /^Repeat: webhook\.test/ }).click();
    await expect.poll(() => receiver.at('/console').length).toBe(2);
    await dialog.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('button', { name: `Rotate: ${url}` }).click();
    await dialog.getByText('It ends at once').click();
    expect(await opened.findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
    const rotated = await secretShown();
    await page.getByRole('button', { name: `Deliveries: ${url}` }).click();
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await expect.poll(() => receiver.at('/console').length).toBe(3);
    await dialog.getByRole('button', { name: 'Close' }).click();
    const { webhooks } = new OpenAI({ apiKey: 'none' });
    const verified = receiver
      .at('/console')
      .map(({ body, headers }, at) =>
        webhooks.unwrap(body, headers as Record<string, string>, at < 2 ? secret : rotated),
      );
    expect(await Promise.all(verified)).toMatchObject(Array(3).fill({ type: 'webhook.test' }));

    await page.getByRole('button', { name: `Edit: ${url}` }).click();
    await dialog.getByText('Events are delivered').click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('disabled', { exact: true }).waitFor();
    await page.getByRole('button', { name: `Delete: ${url}` }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No endpoints').waitFor();
  });

  it('may be e-mail addresses, which are confirmed with a code', async () => {
    const opened = await openPage();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    const url = 'mailto:ann@customer.example';
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await dialog.getByLabel('URL').fill(url);
    await dialog.getByText('A charge is refunded').click();
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('A code was sent to ann@customer.example').waitFor();
    expect(await opened.findings()).toEqual([]);
    await expect.poll(() => mailbox.mails.length).toBe(1);
    await dialog.getByLabel('Code').fill('0000-0000');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByText(/is wrong or has expired/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('not confirmed', { exact: true }).waitFor();
    await page.getByRole('button', { name: `Confirm: ${url}` }).click();
    await dialog.getByRole('button', { name: 'Send another' }).click();
    await expect.poll(() => mailbox.mails.length).toBe(2);
    const [, code = ''] = /The code is: (\S+)/.exec(mailbox.texts()[1] ?? '') ?? [];
    await dialog.getByLabel('Code').fill(code);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('enabled', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: `Rotate: ${url}` }).count()).toBe(0);
    for (const width of [320, 1_280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await opened.overflow()).toBe(0);
    }
    await page.getByRole('button', { name: `Delete: ${url}` }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No endpoints').waitFor();
  });

  it('and alerts are added, changed and removed by the keyboard alone', async () => {
    const opened = await openPage();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    const url = `${receiver.url}/keyboard`;
    const inDialog = (name: string) => dialog.getByRole('button', { name, exact: true });
    const onPage = (name: string) => page.getByRole('button', { name, exact: true });
    const closed = () => dialog.waitFor({ state: 'detached' });
    await opened.enter(onPage('Add an endpoint'));
    await opened.type(dialog.getByLabel('URL'), url);
    await opened.tabTo(dialog.getByLabel('A charge is refunded'));
    await page.keyboard.press('Space');
    await opened.enter(inDialog('Add'));
    await opened.enter(inDialog('I have copied it'));
    await closed();
    await opened.enter(onPage(`Edit: ${url}`));
    await opened.tabTo(dialog.getByLabel('Events are delivered'));
    await page.keyboard.press('Space');
    await opened.enter(inDialog('Save'));
    await page.getByText('disabled', { exact: true }).waitFor();
    await closed();
    await opened.enter(onPage(`Rotate: ${url}`));
    await opened.enter(inDialog('Rotate'));
    await opened.enter(inDialog('I have copied it'));
    await closed();
    await opened.enter(onPage(`Deliveries: ${url}`));
    await opened.enter(inDialog('Close'));
    await closed();
    await opened.enter(onPage(`Delete: ${url}`));
    await opened.enter(inDialog('Delete'));
    await page.getByText('No endpoints').waitFor();
    await closed();

    await opened.enter(onPage('Add an alert'));
    await opened.tabTo(dialog.getByRole('radio', { name: 'A low balance' }));
    await page.keyboard.press('ArrowRight');
    await opened.tabTo(dialog.getByLabel('Within a'));
    await page.keyboard.press('ArrowUp');
    const period = await dialog.getByLabel('Within a').inputValue();
    await opened.type(dialog.getByLabel('Amount'), '4');
    await opened.enter(inDialog('Add'));
    await closed();
    expect(period).toBe('WEEK');
    const remove = page.getByRole('button', { name: /^Remove: .* has spent \$4\.00 a week$/ });
    await opened.enter(remove);
    await remove.waitFor({ state: 'detached' });
  });

  it('have alerts for balances and for what keys spend, which can be removed', async () => {
    const opened = await openPage();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    const add = page.getByRole('button', { name: 'Add an alert' });
    await add.click();
    await dialog.getByLabel('Amount').fill('2.5');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const low = page.getByRole('cell', { name: 'The balance falls below $2.50', exact: true });
    await low.waitFor();
    await add.click();
    await dialog.getByText('What a key spends').click();
    await dialog.getByLabel('Amount').fill('3');
    await dialog.getByLabel('Within a').selectOption('WEEK');
    expect(await opened.findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: /^Remove: .* has spent \$3\.00 a week$/ }).waitFor();
    expect(await opened.findings()).toEqual([]);
    await page.getByRole('button', { name: 'Remove: The balance falls below $2.50' }).click();
    await low.waitFor({ state: 'detached' });
    await add.click();
    await dialog.getByText('What a user spends').click();
    await dialog.getByLabel('User, as in requests').fill('alice');
    await dialog.getByLabel('Amount').fill('4');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const ofUser = page.getByRole('button', { name: /^Remove: The user eu_.* has spent \$4\.00 a month$/ });
    await ofUser.click();
    await ofUser.waitFor({ state: 'detached' });
    const alerts = await fetch(`${platform.apiUrl}/alerts`, {
      headers: { authorization: `Bearer ${keys.adminKey}` },
    });
    expect(await alerts.json()).toMatchObject({
      alerts: [{ type: 'key.spend_threshold', period: 'WEEK', currency: 'USD', amount: 3 }],
    });
  });
});

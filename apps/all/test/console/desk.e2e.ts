import { hash } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN } from '../deployment.js';
import { Platform } from '../platform.js';
import { type BrowserWindow, CHROMIUM, closeAll, startChromium } from './browser-window.js';
import { answer, closed, deskAt, giveToken, go, press } from './desk-window.js';

const READER = 'operator-token-of-a-reader-in-a-test';
const TOKENS = [{ name: 'reader', scopes: ['read'], sha256: hash('sha256', READER) }];
const PAGES = 'Accounts Requests Catalogue Backends Books Jobs Webhooks Actions Links'.split(' ');
const SCHEMES = ['light', 'dark'] as const;
const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] };

/** What would run if a text became HTML or a script. */
const PAYLOADS = ['<img src=x onerror=alert(1)>', '"><svg onload=alert(1)>', '<script>alert(1)</script>'];

let browser: Browser;
let platform: Platform;
const windows: BrowserWindow[] = [];

/** A window; what must not happen in it fails the test. */
async function openDesk(
  token = OPERATOR_TOKEN,
  options?: Parameters<typeof BrowserWindow.at>[2],
): Promise<BrowserWindow> {
  const opened = await deskAt(browser, platform, options);
  windows.push(opened);
  await giveToken(opened, token);
  return opened;
}

describe.runIf(CHROMIUM !== undefined)("the operator's desk", () => {
  beforeAll(async () => {
    browser = await startChromium();
    platform = await Platform.start({
      hasOwnProcess: true,
      env: {
        SVC_OPERATOR_TOKENS: JSON.stringify(TOKENS),
        SVC_OPERATOR_LINKS: 'Dashboards=https://grafana.example/d/svc',
      },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });
  afterEach(() => closeAll(windows));

  it('does a day of work: opens, credits, corrects, refunds, suspends and finds a request', async () => {
    const opened = await openDesk();
    const { page } = opened;
    await opened.heading('Accounts');
    await press(opened, 'Open an account');
    await page.getByLabel('Name', { exact: true }).fill('Acme');
    await page.getByLabel('First credit in USD').fill('50.00');
    await page.getByLabel('Reference').fill('invoice-17');
    await page.getByLabel('Description of the key').fill('First key');
    await answer(opened, 'Open');
    const apiKey = (await page.getByRole('region', { name: 'API key' }).textContent()) ?? '';
    expect(apiKey).toMatch(/^SVC_INFERENCE_KEY_/);
    await answer(opened, 'I have copied it');
    await closed(opened);
    const completion = await platform.chat(apiKey, HELLO);
    const { id, cost } = (await completion.json()) as { id: string; cost: { usd: number } };

    await page.getByLabel('Name, id or wallet').fill('acm');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Acme' }).click();
    await page.getByRole('heading', { name: 'Acme' }).waitFor();
    const accountId = new URL(page.url()).searchParams.get('id') ?? '';
    await press(opened, 'Credit');
    await page.getByLabel('Amount in USD').fill('5000');
    await page.getByLabel('Reference').fill('invoice-18');
    await answer(opened, 'Credit');
    await page.getByText('Give $5,000.00 to Acme?').waitFor();
    await answer(opened, 'Credit');
    await closed(opened);
    await page.getByRole('button', { name: 'Undo the credit invoice-18' }).click();
    await page.getByLabel('Reason').fill('5000 instead of 50');
    await answer(opened, 'Undo');
    await page.getByText('Take the credit of $5,000.00 back?').waitFor();
    await answer(opened, 'Undo');
    await closed(opened);
    await page.getByText('undone', { exact: true }).waitFor();
    expect(Number((await platform.balances(accountId)).usd)).toBeCloseTo(50 - cost.usd, 9);

    await page.getByRole('link', { name: id }).click();
    await opened.heading('Requests');
    await page.getByText(`$${cost.usd}`, { exact: true }).first().waitFor();
    await press(opened, 'Refund');
    await page.getByLabel('Reference').fill('complaint-3');
    await page.getByLabel('Reason').fill('The answer was cut off');
    await answer(opened, 'Refund');
    await answer(opened, 'Refund');
    await page.getByRole('cell', { name: 'complaint-3' }).waitFor();
    expect((await platform.balances(accountId)).usd).toBe('50.00');

    await page.getByRole('link', { name: accountId }).click();
    await press(opened, 'Suspend');
    await page.getByLabel('Reason').fill('Chargeback of invoice 17');
    await answer(opened, 'Suspend');
    await answer(opened, 'Suspend');
    await page.getByText('Chargeback of invoice 17').waitFor();
    await expect.poll(async () => (await platform.chat(apiKey, HELLO)).status).toBe(403);
    await page.getByRole('link', { name: 'What operators have done with it' }).click();
    await opened.heading('Actions');
    for (const action of ['suspendAccount', 'refundCharge', 'reverseCredit', 'creditAccount'])
      await page.getByText(action).first().waitFor();
  });

  it('shows wrong inputs at their fields, and moves no money twice', async () => {
    const { id } = await platform.account('10.00', { name: 'Careful' });
    const opened = await openDesk();
    const { page } = opened;
    await opened.heading('Accounts');
    await go(opened, `/desk?id=${id}`);
    await press(opened, 'Credit');
    await page.getByLabel('Amount in USD').fill('1,5');
    await page.getByLabel('Reference').fill('invoice-1');
    await answer(opened, 'Credit');
    await answer(opened, 'Credit');
    const amount = page.getByLabel('Amount in USD');
    await page.getByText('Amount in USD must be a decimal string above zero').waitFor();
    expect(await amount.getAttribute('aria-invalid')).toBe('true');
    await amount.fill('0.000000001');
    await answer(opened, 'Credit');
    await page.getByRole('dialog').getByRole('button', { name: 'Credit', exact: true }).dblclick();
    await closed(opened);
    expect((await platform.balances(id)).usd).toBe('10.000000001');
    await press(opened, 'Credit');
    await page.getByLabel('Amount in USD').fill('0.000000001');
    await page.getByLabel('Reference').fill('invoice-1');
    await answer(opened, 'Credit');
    await answer(opened, 'Credit');
    await closed(opened);
    expect((await platform.balances(id)).usd).toBe('10.000000001');
    await press(opened, 'Debit');
    await page.getByLabel('Amount in USD').fill('11');
    await page.getByLabel('Reference').fill('correction-1');
    await page.getByLabel('Reason').fill('Too high');
    await answer(opened, 'Debit');
    await answer(opened, 'Debit');
    await page.getByRole('dialog').getByRole('alert').getByText('10.000000001').waitFor();
  });

  it('compares another catalogue with the one in force, and shows backends and audits', async () => {
    const opened = await openDesk();
    const { page } = opened;
    await opened.heading('Accounts');
    await opened.open('Catalogue');
    await page.getByText('test-model', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'What a change would do' }).click();
    await page.getByLabel('The catalogue').fill('models: [');
    await press(opened, 'Compare with the version in force');
    await page.getByText('It is not a valid catalogue').waitFor();
    await opened.open('Backends');
    await page
      .getByRole('row', { name: /test-model/ })
      .getByText('up', { exact: true })
      .waitFor();
    await opened.open('Books');
    await press(opened, 'Audit');
    await page.getByText('Everything agrees.').waitFor();
    await page.getByRole('tab', { name: 'Payments' }).click();
    await page.getByText('This service takes none').waitFor();
    await opened.open('Links');
    expect(await page.getByRole('link', { name: 'Dashboards' }).getAttribute('rel')).toBe(
      'noopener noreferrer',
    );
  });

  it('takes a backend out of service and puts it back', async () => {
    const opened = await openDesk();
    const { page } = opened;
    await opened.heading('Accounts');
    await opened.open('Backends');
    const row = page.getByRole('row', { name: /test-model/ });
    await row.getByRole('button', { name: /^Take out/ }).click();
    expect(await opened.findings()).toEqual([]);
    await page.getByLabel('Reason').fill('New driver');
    await answer(opened, 'Take it out');
    await page.getByText(/Send no further requests for test-model/).waitFor();
    await answer(opened, 'Take it out');
    await closed(opened);
    await row.getByText('draining', { exact: true }).waitFor();
    await row.getByText('New driver').waitFor();
    await row.getByRole('button', { name: /^Put back/ }).click();
    await page.getByLabel('Reason').fill('Done');
    await answer(opened, 'Put it back');
    await closed(opened);
    await row.getByText('up', { exact: true }).waitFor();
  });

  it('offers a token without scopes nothing that it may not do, and says why', async () => {
    const { id } = await platform.account('10.00');
    const opened = await openDesk(READER);
    const { page } = opened;
    await opened.heading('Accounts');
    await page.getByText('Opening an account needs a token with the scope “keys”.').waitFor();
    await go(opened, `/desk?id=${id}`);
    await page.getByText('Moving money needs a token with the scope “money”.').waitFor();
    await page.getByRole('cell', { name: 'credit', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /Credit|Debit|Refund|Undo|Suspend|Revoke/ }).count()).toBe(
      0,
    );
  });

  it('keeps the token in the memory of the page only, and asks again for a wrong one and after a reload', async () => {
    const opened = await openDesk('wrong-token-wrong-token-wrong-token');
    const { page } = opened;
    await page.getByText('The operator token is missing or wrong.').waitFor();
    await giveToken(opened, OPERATOR_TOKEN);
    await opened.heading('Accounts');
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
    expect(kept).not.toContain(OPERATOR_TOKEN);
    expect(await page.context().cookies()).toEqual([]);
    expect(await platform.log()).not.toContain(OPERATOR_TOKEN);
    await page.reload();
    await page.getByLabel('Token').waitFor();
  });

  it('shows texts of others as texts', async () => {
    const [name = '', reason = '', reference = ''] = PAYLOADS;
    const { id } = await platform.account('0', { name });
    await platform.operator('POST', `/accounts/${id}/credits`, { usd: '1.00', reference });
    await platform.operator('PUT', `/accounts/${id}/suspension`, { reason });
    const opened = await openDesk();
    const { page } = opened;
    await opened.heading('Accounts');
    await go(opened, `/desk?id=${id}`);
    for (const text of PAYLOADS) await page.getByText(text).first().waitFor();
    await go(opened, `/desk/actions?target=${id}`);
    await opened.heading('Actions');
    await page.getByText(reason.slice(2)).first().waitFor();
    expect(await page.locator('main :is(img, svg, script)').count()).toBe(0);
  });

  it('can be used by the keyboard alone', async () => {
    const { id } = await platform.account('10.00', { name: 'Keyboard' });
    const opened = await openDesk('');
    const { page } = opened;
    await page.getByLabel('Token').focus();
    await page.keyboard.insertText(OPERATOR_TOKEN);
    await page.keyboard.press('Enter');
    await opened.heading('Accounts');
    await go(opened, `/desk?id=${id}`);
    await page.getByRole('button', { name: 'Suspend' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('reason');
    await page.keyboard.insertText('By keyboard');
    await page.keyboard.press('Enter');
    // The key that sent the form confirms nothing, however soon it is pressed again.
    await page.keyboard.press('Enter');
    await page.getByText('Refuse every request of Keyboard').waitFor();
    expect((await platform.operator('GET', `/accounts/${id}`)).body).toMatchObject({ state: 'active' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Suspended since').waitFor();
    await closed(opened);
    await page.getByRole('button', { name: 'Credit', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await closed(opened);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Credit');
    // A browser closes a dialog by itself if Escape is pressed without anything between.
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await closed(opened);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Credit');
  });

  it.each(SCHEMES)(
    'has no findings of axe on any page and in dialogs, in %s colours',
    async (colorScheme) => {
      const { id } = await platform.account('10.00', { name: 'Accessible' });
      const opened = await openDesk('', { colorScheme });
      const { page } = opened;
      const found: Record<string, string[]> = { token: await opened.findings() };
      await giveToken(opened, OPERATOR_TOKEN);
      await opened.heading('Accounts');
      for (const name of PAGES) {
        await opened.open(name);
        found[name] = await opened.findings();
      }
      await opened.open('Accounts');
      await press(opened, 'Open an account');
      found['open'] = await opened.findings();
      await page.keyboard.press('Escape');
      await go(opened, `/desk?id=${id}`);
      await page.getByRole('heading', { name: 'Accessible' }).waitFor();
      found['account'] = await opened.findings();
      for (const name of ['Credit', 'Debit', 'Refund', 'Set the stake', 'Suspend']) {
        await press(opened, name);
        found[name] = await opened.findings();
        await page.keyboard.press('Escape');
        await closed(opened);
      }
      expect(Object.entries(found).filter(([, findings]) => findings.length > 0)).toEqual([]);
    },
  );

  it.each([320, 1_280])('fits into a window of %d pixels, without findings of axe', async (width) => {
    const { id } = await platform.account('10.00');
    const opened = await openDesk(OPERATOR_TOKEN, { viewport: { width, height: 700 } });
    await opened.heading('Accounts');
    const wider: Record<string, number> = {};
    const found: string[] = [];
    for (const name of PAGES) {
      await go(opened, name === 'Accounts' ? '/desk' : `/desk/${name.toLowerCase()}`);
      await opened.heading(name);
      wider[name] = await opened.overflow();
      found.push(...(await opened.findings()));
    }
    await go(opened, `/desk?id=${id}`);
    await opened.page.getByText(id).first().waitFor();
    await opened.heading('Accounts');
    wider['account'] = await opened.overflow();
    found.push(...(await opened.findings()));
    expect(found).toEqual([]);
    expect(Object.entries(wider).filter(([, pixels]) => pixels > 0)).toEqual([]);
  });
});

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { BrowserWindow, CHROMIUM, startChromium } from './browser-window.js';

let browser: Browser;
let platform: Platform;

describe.runIf(CHROMIUM !== undefined)('the page of the API', () => {
  beforeAll(async () => {
    [browser, platform] = await Promise.all([startChromium(), Platform.start()]);
  });
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });

  it('shows samples for this address in each language, and asks no other host for anything', async () => {
    const { page, faults } = await BrowserWindow.at(browser, `${platform.rootUrl}/docs`);
    await page.goto(`${platform.rootUrl}/docs#/Embeddings/createEmbeddings`);
    const samples = page.getByRole('region', { name: 'Samples' });
    await samples.getByText(`curl "${platform.apiUrl}/embeddings"`).waitFor();
    await samples.getByRole('button', { name: 'Python' }).click();
    await samples.getByText(/import requests/).waitFor();
    await samples.getByRole('button', { name: 'JavaScript' }).click();
    expect(await samples.locator('pre').textContent()).toContain(
      `await fetch('${platform.apiUrl}/embeddings'`,
    );
    expect(faults).toEqual([]);
  });
});

import type { Browser } from 'playwright-core';
import type { Platform } from '../platform.js';
import { BrowserWindow } from './browser-window.js';

/** A window with the desk, which asks for a token. */
export async function deskAt(
  browser: Browser,
  platform: Platform,
  options?: Parameters<typeof BrowserWindow.at>[2],
): Promise<BrowserWindow> {
  const home = platform.operatorUrl.replace('/operator/v1', '/desk');
  const opened = await BrowserWindow.at(browser, home, options);
  await opened.visit();
  return opened;
}

export async function giveToken({ page }: BrowserWindow, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** Opens an address of the desk without loading the page again, which would forget the token. */
export const go = ({ page }: BrowserWindow, path: string): Promise<void> =>
  page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);

export const press = ({ page }: BrowserWindow, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

/** In the open dialog. */
export const answer = ({ page }: BrowserWindow, name: string): Promise<void> =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

export const closed = ({ page }: BrowserWindow): Promise<void> =>
  page.getByRole('dialog').waitFor({ state: 'detached' });

import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, type Locator, type Page, chromium } from 'playwright-core';

/** Where Debian and others install it; the variable replaces them. */
const PLACES = [process.env['CHROMIUM'] ?? '', '/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** The browser of the tests, if there is one. */
export const CHROMIUM = PLACES.find((path) => path !== '' && existsSync(path));
if (CHROMIUM === undefined)
  process.stderr.write('-- No Chromium: the console is not tested in a browser (set CHROMIUM to its path)\n');

/** More than any page has places to go to with Tab. */
const MOST_TABS = 120;

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** A window of a browser with the console, which collects what must not happen in it. */
export class BrowserWindow {
  /** Violations of the policy, faults of scripts and requests to other hosts. */
  readonly faults: string[] = [];

  private constructor(
    readonly page: Page,
    /** Where the console or the desk is. */
    private readonly home: string,
  ) {
    const rootUrl = new URL(home).origin;
    page.on('pageerror', ({ message }) => this.faults.push(`fault: ${message}`));
    page.on('dialog', (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      if (/Content Security Policy|Trusted/i.test(message.text())) this.faults.push(message.text());
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(rootUrl) && !/^(?:blob|data):/.test(url)) this.faults.push(`request: ${url}`);
    });
  }

  static open(browser: Browser, rootUrl: string, options?: BrowserContextOptions): Promise<BrowserWindow> {
    return BrowserWindow.at(browser, `${rootUrl}/console`, options);
  }

  /** The window of a page at another address than the console's. */
  static async at(
    browser: Browser,
    home: string,
    options: BrowserContextOptions = {},
  ): Promise<BrowserWindow> {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, ...options });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    return new BrowserWindow(await context.newPage(), home);
  }

  /** Opens a page by its address. */
  async visit(name = ''): Promise<void> {
    await this.page.goto(`${this.home}${name === '' ? '' : `/${name}`}`);
  }

  async signIn(apiKey: string): Promise<void> {
    await this.visit();
    await this.page.getByLabel('API key').fill(apiKey);
    await this.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await this.heading('Overview');
  }

  /** Waits for a page to be shown with what it has loaded. */
  async heading(name: string): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await this.page.waitForFunction(
      () => !document.querySelector('.skeleton') && !document.querySelector('[aria-busy="true"]'),
    );
  }

  /** Opens a page by the menu. */
  async open(name: string): Promise<void> {
    await this.page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await this.heading(name);
  }

  /** Goes to a control with Tab alone. */
  async tabTo(control: Locator): Promise<void> {
    await control.waitFor({ state: 'attached' });
    for (let tab = 0; tab < MOST_TABS; tab += 1) {
      if (await control.evaluate((element) => element === document.activeElement)) return;
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not lead to ${String(control)}`);
  }

  /** Goes to a button or a link with Tab, and presses it with Enter. */
  async enter(control: Locator): Promise<void> {
    await this.tabTo(control);
    await this.page.keyboard.press('Enter');
  }

  /** Goes to a field with Tab, and writes over what is in it. */
  async type(field: Locator, text: string): Promise<void> {
    await this.tabTo(field);
    await this.page.keyboard.press('ControlOrMeta+A');
    await this.page.keyboard.insertText(text);
  }

  /** What axe finds in the open page. */
  async findings(): Promise<string[]> {
    await this.page.evaluate(axe.source);
    const found = await this.page.evaluate(async (rules) => {
      const page = globalThis as unknown as { axe: typeof axe };
      return (await page.axe.run(document, { runOnly: rules })).violations;
    }, RULES);
    return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  }

  /** By how many pixels the page is wider than the window, or a table wider than its place. */
  overflow(): Promise<number> {
    return this.page.evaluate(() => {
      const boxes = [...document.querySelectorAll('.cards')].map(
        ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
      );
      return Math.max(document.documentElement.scrollWidth - window.innerWidth, ...boxes);
    });
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}

/** Starts the browser; only root needs to do without its sandbox, but containers often run as root. */
export const startChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] });

/** Closes windows at the end of a test, which fails if anything happened in them that must not. */
export async function closeAll(windows: BrowserWindow[]): Promise<void> {
  const faults = windows.flatMap((opened) => opened.faults);
  await Promise.all(windows.splice(0).map((opened) => opened.close()));
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

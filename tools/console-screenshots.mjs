// Takes pictures of each page of a running console, in light and dark colours, wide and narrow beside each
// other, and writes them to docs/console: `node tools/console-screenshots.mjs ORIGIN KEY`, with an ADMIN key.
// What they show is what the account has, so make some requests first. With the origin of the operator's
// port, its token and the ids of an account and of one of its requests, it takes those of the desk:
// `node tools/console-screenshots.mjs ORIGIN TOKEN ACCOUNT REQUEST`. Needs Chromium.
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import sharp from 'sharp';

const [origin, secret, account, request] = process.argv.slice(2);
if (secret === undefined)
  throw new Error('usage: node tools/console-screenshots.mjs ORIGIN KEY, or ORIGIN TOKEN ACCOUNT REQUEST');

const isDesk = account !== undefined;
const PICTURES = join(import.meta.dirname, '..', isDesk ? 'docs/desk' : 'docs/console');
const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const PAGES = 'playground keys webhooks usage requests limits models media credit sessions'.split(' ');
const HEIGHT = 800;
const WIDTHS = [1_280, 360];
const GAP = 24;
const COLOURS = 64;
/** How long a page that is not loaded again takes to change. */
const SETTLING_MS = 1_500;

/** Asks a model something, so that the playground is not empty. */
async function converse(page) {
  await page.getByLabel('Message').fill('What do the tides depend on?');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Request', exact: true }).waitFor();
}

/** Makes an image, so that the page is not empty. */
async function makeImage(page) {
  await page.getByLabel('What the image shows').fill('A lighthouse at dusk');
  await page.getByRole('button', { name: 'Make' }).first().click();
  await page.locator('img').first().waitFor();
}

const ACTIONS = { playground: converse, media: makeImage };

const shown = (page) =>
  page.waitForFunction(() => document.querySelector('.page') && !document.querySelector('.skeleton'));

/** The pages of the desk by the names of their pictures. Loading one again would forget the token. */
const DESK_PAGES = {
  accounts: '/desk',
  account: `/desk?id=${account}`,
  request: `/desk/requests?id=${request}`,
  catalogue: '/desk/catalogue',
  backends: '/desk/backends',
  books: '/desk/books',
  jobs: '/desk/jobs',
  actions: '/desk/actions',
  links: '/desk/links',
};

async function photographDesk(page, pictures) {
  await page.goto(`${origin}/desk`);
  await page.getByLabel('Token').fill(secret);
  await page.getByRole('button', { name: 'Continue' }).click();
  for (const [name, path] of Object.entries(DESK_PAGES)) {
    await page.evaluate((to) => {
      history.pushState(null, '', to);
      dispatchEvent(new PopStateEvent('popstate'));
    }, path);
    await page.waitForTimeout(SETTLING_MS);
    await shown(page);
    if (name === 'books') {
      await page.getByRole('button', { name: 'Audit', exact: true }).click();
      await page.getByText('Everything agrees.').waitFor();
    }
    // What is below the pointer looks different.
    await page.mouse.move(0, 0);
    pictures[name] = await page.screenshot();
  }
}

/** The pictures of every page in one colour scheme and width, by name. */
async function photograph(browser, colorScheme, width) {
  const context = await browser.newContext({ viewport: { width, height: HEIGHT }, colorScheme });
  const page = await context.newPage();
  const pictures = {};
  await (isDesk ? photographDesk(page, pictures) : photographConsole(page, pictures));
  await context.close();
  return pictures;
}

async function photographConsole(page, pictures) {
  await page.goto(`${origin}/console`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  pictures['sign-in'] = await page.screenshot();
  await page.getByLabel('API key').fill(secret);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  for (const name of ['overview', ...PAGES]) {
    if (name !== 'overview') await page.goto(`${origin}/console/${name}`);
    await shown(page);
    await ACTIONS[name]?.(page);
    await page.mouse.move(0, 0);
    pictures[name] = await page.screenshot();
  }
}

const browser = await chromium.launch({
  executablePath: PLACES.find((path) => path !== undefined && existsSync(path)),
  args: ['--no-sandbox', '--hide-scrollbars'],
});
await mkdir(PICTURES, { recursive: true });
for (const scheme of ['light', 'dark']) {
  const sets = [];
  for (const width of WIDTHS) sets.push(await photograph(browser, scheme, width));
  for (const name of Object.keys(sets[0])) {
    const layers = sets.map((set, at) => ({
      input: set[name],
      left: at === 0 ? 0 : WIDTHS[0] + GAP,
      top: 0,
    }));
    await sharp({
      create: { width: WIDTHS[0] + GAP + WIDTHS[1], height: HEIGHT, channels: 3, background: '#9aa0ad' },
    })
      .composite(layers)
      .png({ palette: true, colours: COLOURS, compressionLevel: 9, effort: 10 })
      .toFile(join(PICTURES, scheme === 'light' ? `${name}.png` : `${name}-dark.png`));
  }
}
await browser.close();

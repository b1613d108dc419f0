// Draws the chart's dashboards with data from a Prometheus, in Grafana's layout, and writes
// pictures to docs/dashboards: `node tools/screenshots.mjs http://127.0.0.1:9090 --minutes 10`. One picture
// shows the initial view, a second one opens the collapsed rows. Reports the number of panels without data.
// Needs chromium on the PATH.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import sharp from 'sharp';
import { boardPage } from './observe/drawn/board.mjs';
import { Asked } from './observe/drawn/prometheus.mjs';

const root = join(import.meta.dirname, '..');
const BOARDS = join(root, 'deploy/charts/platform/files/dashboards');
const PICTURES = join(root, 'docs/dashboards');
const CHROMIUM_MS = 60_000;
const COLOURS = 64;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '10' }, to: { type: 'string', default: PICTURES } },
});
const [url] = positionals;
if (url === undefined) throw new Error('usage: node tools/screenshots.mjs URL [--minutes N] [--to FOLDER]');

const folder = await mkdtemp(join(tmpdir(), 'svc-screenshots-'));

async function photograph({ html, size }, picture) {
  const [page, raw] = [join(folder, 'page.html'), join(folder, 'page.png')];
  await writeFile(page, html);
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    '--disable-background-networking',
    `--user-data-dir=${join(folder, 'chromium')}`,
    `--window-size=${size.width},${size.height}`,
    `--screenshot=${raw}`,
  ];
  await promisify(execFile)('chromium', [...flags, `file://${page}`], { timeout: CHROMIUM_MS });
  await sharp(raw).png({ palette: true, colours: COLOURS, compressionLevel: 9, effort: 10 }).toFile(picture);
}

/** Draws a dashboard; returns the number of its panels, and the titles of those without data. */
async function draw(file, period) {
  const board = JSON.parse(await readFile(join(BOARDS, file), 'utf8'));
  const name = basename(file, '.json');
  const pageOf = (isOpen) => boardPage(board, new Asked(url, period), { isOpen });
  const first = await pageOf(false);
  await photograph(first, join(values.to, `${name}.png`));
  if (!board.panels.some(({ collapsed }) => collapsed)) return first;
  const whole = await pageOf(true);
  await photograph(whole, join(values.to, `${name}-open.png`));
  return whole;
}

try {
  await mkdir(values.to, { recursive: true });
  const toSeconds = Math.floor(Date.now() / 5_000) * 5;
  const period = { fromSeconds: toSeconds - Number(values.minutes) * 60, toSeconds, stepSeconds: 5 };
  let panels = 0;
  const missing = [];
  for (const file of (await readdir(BOARDS)).filter((name) => name.endsWith('.json'))) {
    const drawn = await draw(file, period);
    panels += drawn.panels;
    missing.push(...drawn.missing.map((title) => `${file}: ${title}`));
  }
  for (const panel of missing) console.error(`no data: ${panel}`);
  console.log(`${panels} panels, ${missing.length} without data`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

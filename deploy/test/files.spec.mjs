// The chart is whole in its own folder, however it is fetched.
import { cp, lstat, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BOARDS } from '../../tools/observe/boards.mjs';
import { CHART, DATA, EXTERNAL, renderText } from './chart.mjs';

const LISTED = JSON.parse(await readFile(`${CHART}/files/contents.json`, 'utf8'));

let folder;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chart-'));
});
afterAll(() => rm(folder, { recursive: true }));

it.each([CHART, DATA])(
  '%s has real files only: Flux and others do not follow symbolic links',
  async (chart) => {
    for (const name of await readdir(chart, { recursive: true }))
      expect([name, (await lstat(join(chart, name))).isSymbolicLink()]).toEqual([name, false]);
  },
);

it.each([...LISTED, 'files/contents.json'])(
  'a chart without %s does not render, and says so',
  async (path) => {
    const copy = join(folder, path.replaceAll('/', '-'));
    await cp(CHART, copy, { recursive: true });
    await rm(join(copy, path));
    await expect(renderText(EXTERNAL, { chart: copy })).rejects.toThrow(path);
  },
);

it('every dashboard and rule is a file of the chart', () => {
  const boards = Object.keys(BOARDS).map((name) => `files/dashboards/${name}.json`);
  expect(LISTED).toEqual(expect.arrayContaining(['files/alerts/svc.rules.yml', ...boards]));
});

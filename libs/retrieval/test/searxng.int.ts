import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@svc/storage';
import { createLogger } from '@svc/runtime';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { LocalWebSearch } from '../src/search/local-web-search.js';
import { catalogWith } from './catalog-with.js';

/** A Python with the module `searx`, built from SearXNG's source; it is in no package index. */
const python = process.env['SEARXNG_PYTHON'];
const note = python === undefined ? ' (SEARXNG_PYTHON names no Python that has it)' : '';

/** It loads all its data at the start. */
const START_MS = 120_000;

describe.skipIf(python === undefined)(`a real SearXNG${note}`, () => {
  const closing: (() => Promise<unknown>)[] = [];
  let engineAnswers: (url: string) => unknown = () => ({ results: [] });
  let url = '';

  beforeAll(async () => {
    const engine = await TestServer.start((request, response) => {
      const answer = engineAnswers(request.url ?? '');
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
    closing.push(() => engine.close());
    const dir = await mkdtemp(join(tmpdir(), 'svc-searxng-'));
    closing.push(() => rm(dir, { recursive: true, force: true }));
    const port = await freePort();
    const settings = {
      use_default_settings: { engines: { keep_only: [] } },
      search: { formats: ['html', 'json'] },
      server: { secret_key: 'a-key-of-the-tests', limiter: false, bind_address: '127.0.0.1', port },
      engines: [
        {
          name: 'local',
          engine: 'json_engine',
          shortcut: 'loc',
          categories: ['general'],
          search_url: `${engine.url}/?q={query}`,
          enable_http: true,
          results_query: 'results',
          url_query: 'url',
          title_query: 'title',
          content_query: 'content',
        },
      ],
    };
    await writeFile(join(dir, 'settings.yml'), stringify(settings));
    const env = { ...process.env, SEARXNG_SETTINGS_PATH: join(dir, 'settings.yml') };
    const searxng = spawn(python ?? '', ['-m', 'searx.webapp'], { cwd: dir, env, stdio: 'ignore' });
    const ended = once(searxng, 'exit');
    closing.push(() => (searxng.kill(), ended));
    url = `http://127.0.0.1:${port}`;
    const isUp = (): Promise<boolean> =>
      fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    const end = Date.now() + START_MS;
    while (!(await isUp())) {
      if (searxng.exitCode !== null || Date.now() > end) throw new Error('SearXNG does not start');
      await sleep(250);
    }
  }, 2 * START_MS);
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  async function search(text: string, entry: object = {}): Promise<unknown> {
    const provider = { kind: 'searxng', url, deadlineMs: 20_000, ...entry };
    const web = new LocalWebSearch({
      catalog: catalogWith({ providers: [provider], cacheSeconds: 0, deadlineMs: 20_000 }),
      log: createLogger('silent'),
      simulatorUrl: undefined,
      secret: () => undefined,
    });
    const found: unknown = await web
      .search({ accountId: 'a', text, count: 5 })
      .catch((error: unknown) => error);
    await web.close();
    return found;
  }

  it('is queried and parsed correctly, in any language', async () => {
    const queries: string[] = [];
    engineAnswers = (path) => {
      queries.push(new URL(path, 'http://x').searchParams.get('q') ?? '');
      return {
        results: [
          {
            title: 'The <b>Tower</b> &amp; more',
            url: 'https://tower.example/a',
            content: '330 <i>metres</i>.',
          },
          { title: 'Twice', url: 'https://tower.example/a', content: 'The same page.' },
          { title: 'Other', url: 'https://other.example/', content: 'Second.' },
        ],
      };
    };
    expect(await search('Wie hoch & warum? 東京', { language: 'de', region: 'AT' })).toMatchObject({
      provider: 'searxng',
      pages: [{ url: 'https://tower.example/a' }, { url: 'https://other.example/', content: 'Second.' }],
    });
    expect(queries).toEqual(['Wie hoch & warum? 東京']);
  });

  it('finds nothing if its engines do not', async () => {
    engineAnswers = () => ({ results: [] });
    expect(await search('nothing at all')).toEqual({ provider: 'searxng', pages: [] });
  });
});

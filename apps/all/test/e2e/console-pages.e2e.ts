import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsoleBrowser } from '../console-browser.js';
import { Platform } from '../platform.js';

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start();
});

afterAll(() => platform.stop());

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${platform.rootUrl}${path}`, { headers, redirect: 'manual' });

describe('the root of the service', () => {
  it('leads a browser to the console, and shows programs where the API is', async () => {
    const page = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([page.status, page.headers.get('location')]).toEqual([303, '/console']);
    const program = await get('/', { accept: '*/*' });
    expect(program.status).toBe(200);
    expect(await program.json()).toMatchObject({ api: '/api/v1' });
  });
});

describe('a path of the console', () => {
  it.each(['/console/api', '/console/api/unknown', '/console//api/v1/models', '/console/index.html'])(
    'is no page if it is %s',
    async (path) => {
      const response = await get(path, { accept: 'text/html', 'sec-fetch-site': 'same-origin' });
      expect(response.headers.get('content-type')).not.toMatch(/html/);
      expect(response.status).toBeGreaterThanOrEqual(400);
    },
  );

  it.each([
    '/console/../package.json',
    '/console/assets/..%2f..%2fpackage.json',
    '/console/assets/%2e%2e/package.json',
    '/console/assets/a-%00.js',
    '/console/assets/unknown-0123abcd.js',
    '/console/assets/constructor',
  ])('never leads to another file: %s', async (path) => {
    expect([400, 404]).toContain((await get(path)).status);
  });
});

/** The test process has the same files as the platform. */
const isBuilt = existsSync(new URL('../../../../libs/console/dist/index.html', import.meta.url));

describe.runIf(isBuilt)('the page of the console', () => {
  it('is the same under each path, and allows scripts, styles and calls of this service only', async () => {
    const first = await get('/console');
    const text = await first.text();
    expect(text).toMatch(/^<!doctype html>/i);
    for (const path of ['/console/keys', '/console/usage', '/console/'])
      expect(await (await get(path)).text()).toBe(text);
    const policy = first.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]),
    );
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    });
  });

  it('is not sent again unless it has changed', async () => {
    const etag = (await get('/console')).headers.get('etag') ?? '';
    const again = await get('/console', { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('loads files that browsers keep, compressed', async () => {
    const text = await (await get('/console')).text();
    const assets = [...text.matchAll(/\/console\/(assets\/[\w.-]+)/g)].map(([path]) => path);
    expect(assets.length).toBeGreaterThan(0);
    for (const path of assets) {
      const { status, headers } = await get(path, { 'accept-encoding': 'br' });
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('content-type')).toMatch(/^text\/(javascript|css)/);
    }
  });
});

describe('a service without a console', () => {
  it('has none of its pages and routes, and leads nobody there', async () => {
    const without = await Platform.start({ env: { SVC_CONSOLE: 'off' } });
    try {
      const browser = new ConsoleBrowser(without.rootUrl);
      const root = await fetch(without.rootUrl, { headers: { accept: 'text/html' }, redirect: 'manual' });
      expect(root.status).toBe(200);
      expect((await fetch(`${without.rootUrl}/console`)).status).toBe(404);
      expect((await browser.ask('GET', '/session')).status).toBe(404);
      expect((await browser.signIn({ apiKey: 'x' })).status).toBe(404);
      expect((await browser.ask('GET', '/v1/models')).status).toBe(404);
    } finally {
      await without.stop();
    }
  });
});

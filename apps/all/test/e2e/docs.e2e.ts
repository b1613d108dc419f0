import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf } from '../answers.js';
import { Platform } from '../platform.js';

let platform: Platform;
let html: string;
let page: Response;

beforeAll(async () => {
  platform = await Platform.start();
  page = await fetch(`${platform.rootUrl}/docs`);
  html = await page.text();
});

afterAll(() => platform.stop());

/** The addresses that the page loads things from. */
const loaded = (): URL[] =>
  [...html.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)]
    .map(([, address = '']) => new URL(address, page.url))
    .filter(({ protocol }) => protocol !== 'data:');

/** Asks for a path as it stands; `fetch` would tidy it first. */
function statusOf(path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(platform.rootUrl);
  return new Promise((resolve, reject) => {
    const call = request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.on('error', reject).end();
  });
}

describe('200', () => {
  it('is a page that loads scripts and styles from here alone', async () => {
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(loaded().length).toBeGreaterThanOrEqual(4);
    for (const address of loaded()) {
      expect(address.origin).toBe(platform.rootUrl);
      const asset = await fetch(address);
      expect(asset.status).toBe(200);
      expect(asset.headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/);
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('lets a browser load nothing from elsewhere', () => {
    const policy = page.headers.get('content-security-policy') ?? '';
    const sources = policy.split('; ').flatMap((directive) => directive.split(' ').slice(1));
    expect(policy).toMatch(/^default-src 'none';/);
    expect(new Set(sources)).toEqual(new Set(["'none'", "'self'", "'unsafe-inline'", 'data:']));
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  });

  it('loads no style that refers to elsewhere', async () => {
    const styles = loaded().filter(({ pathname }) => pathname.endsWith('.css'));
    const texts = await Promise.all(styles.map(async (address) => (await fetch(address)).text()));
    const references = texts.flatMap((text) =>
      [...text.matchAll(/(?:@import|url\()\s*["']?([^"')\s]*)/g)].map(([, target = '']) => target),
    );
    expect(references.length).toBeGreaterThan(0);
    expect(references.filter((target) => !target.startsWith('data:'))).toEqual([]);
  });

  it('shows the description that is served here, and asks nobody to check it', async () => {
    const start = await (await fetch(`${platform.rootUrl}/docs/start.js`)).text();
    const [, address = ''] = /url: '([^']+)'/.exec(start) ?? [];
    expect((await fetch(new URL(address, page.url))).headers.get('content-type')).toBe('application/yaml');
    expect(start).toContain('validatorUrl: null');
    expect(start).not.toMatch(/https?:/);
  });
});

describe('404', () => {
  it.each([
    '/docs/package.json',
    '/docs/../package.json',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e%2f%2e%2e%2fpackage.json',
    '/docs/swagger-ui.css%00',
    '/docs/__proto__',
    '/docs/constructor',
    '/docs/a/b',
    '/docs/',
  ])('has no file at %s', async (path) => {
    expect(await statusOf(path)).toBe(404);
  });

  it('answers in the one envelope', async () => {
    const response = await fetch(`${platform.rootUrl}/docs/nothing.js`);
    expect((await errorOf(response)).code).toBe('NOT_FOUND');
  });
});

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { AccountKeys } from '../account-keys.js';
import { errorOf } from '../response-bodies.js';
import { OPERATOR_TOKEN, Platform } from '../platform.js';

interface Document {
  info: { version: string };
  paths: Record<string, unknown>;
}

type Samples = Record<'curl' | 'python' | 'javascript', string>;

const execute = promisify(execFile);

let platform: Platform;
let html: string;
let page: Response;

beforeAll(async () => {
  platform = await Platform.start({ models: [{ id: 'llama-3.2-3b' }] });
  page = await fetch(`${platform.rootUrl}/docs`);
  html = await page.text();
});

afterAll(() => platform.stop());

/** The URLs that the page loads resources from. */
const loaded = (): URL[] =>
  [...html.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)]
    .map(([, address = '']) => new URL(address, page.url))
    .filter(({ protocol }) => protocol !== 'data:');

/** Requests a path unchanged; `fetch` would normalise it first. */
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
  it('is announced at the root of the public port, with the API', async () => {
    const root = await fetch(platform.rootUrl);
    expect(root.status).toBe(200);
    const { api, docs, openapi } = (await root.json()) as Record<string, string>;
    expect([api, docs]).toEqual(['/api/v1', '/docs']);
    expect((await fetch(platform.rootUrl + String(docs))).status).toBe(200);
    expect((await fetch(platform.rootUrl + String(openapi))).status).toBe(200);
    expect((await fetch(`${platform.rootUrl}${String(api)}/models`)).status).toBe(200);
    expect((await fetch(new URL('/', platform.operatorUrl))).status).toBe(404);
  });

  it('is a page that loads scripts and styles only from this server', async () => {
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

  it('forbids a browser to load anything from other origins', () => {
    const policy = page.headers.get('content-security-policy') ?? '';
    const sources = policy.split('; ').flatMap((directive) => directive.split(' ').slice(1));
    expect(policy).toMatch(/^default-src 'none';/);
    expect(new Set(sources)).toEqual(new Set(["'none'", "'self'", "'unsafe-inline'", 'data:']));
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  });

  it('loads no style that refers to another host', async () => {
    const styles = loaded().filter(({ pathname }) => pathname.endsWith('.css'));
    const texts = await Promise.all(styles.map(async (address) => (await fetch(address)).text()));
    const references = texts.flatMap((text) =>
      [...text.matchAll(/(?:@import|url\()\s*["']?([^"')\s]*)/g)].map(([, target = '']) => target),
    );
    expect(references.length).toBeGreaterThan(0);
    expect(references.filter((target) => !target.startsWith('data:'))).toEqual([]);
  });

  it('shows samples of each operation in three languages', async () => {
    const { paths } = parse(await (await fetch(`${platform.apiUrl}/openapi.yaml`)).text()) as Document;
    const operations = Object.values(paths).flatMap((path) => Object.values(path as object)) as {
      operationId: string;
    }[];
    const response = await fetch(`${platform.rootUrl}/docs/samples.json`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const samples = (await response.json()) as Record<string, Samples>;
    expect(Object.keys(samples).toSorted()).toEqual(
      operations.map(({ operationId }) => operationId).toSorted(),
    );
    const languages = new Set(Object.values(samples).map((texts) => Object.keys(texts).join()));
    expect(languages).toEqual(new Set(['curl,python,javascript']));
  });

  it.each([
    'listModels',
    'createChatCompletion',
    'createResponse',
    'createMessage',
    'createApiKey',
    'createFile',
  ])('shows samples of %s that run as they are', async (operationId) => {
    const text = await (await fetch(`${platform.rootUrl}/docs/samples.json`)).text();
    const samples = JSON.parse(text.replaceAll('SVC_ADDRESS', platform.rootUrl)) as Record<string, Samples>;
    const { adminKey } = await AccountKeys.of(platform);
    const folder = await mkdtemp(join(tmpdir(), 'svc-samples-'));
    await writeFile(join(folder, 'requests.jsonl'), '{}\n');
    const options = {
      cwd: folder,
      env: { PATH: process.env['PATH'], SVC_API_KEY: adminKey },
      timeout: 30_000,
    };
    const { curl = '', javascript = '' } = samples[operationId] ?? {};
    const node = ['--input-type=module', '--eval', javascript];
    expect((await execute('sh', ['-c', curl], options)).stdout).toMatch(/^\{.*"(?:id|data)":/s);
    expect((await execute(process.execPath, node, options)).stdout).toMatch(/\b(?:id|data):/);
    await rm(folder, { recursive: true });
  });

  it('has a list of the operations for programs, whose links lead to this server', async () => {
    const response = await fetch(`${platform.rootUrl}/llms.txt`);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const text = await response.text();
    expect(text).toMatch(/^# Svc API\n\n> /);
    const links = [...text.matchAll(/\]\(([^)]+)\): /g)].map(
      ([, link = '']) => new URL(link, platform.rootUrl),
    );
    expect(links.length).toBeGreaterThan(50);
    const pages = [...new Set(links.map(({ origin, pathname }) => origin + pathname))];
    const statuses = await Promise.all(pages.map(async (link) => (await fetch(link)).status));
    expect(statuses).toEqual(pages.map(() => 200));
    expect(text).toContain('(/docs#/Chat/createChatCompletion): `POST /api/v1/chat/completions`');
  });

  it('shows the description of this server, without an external validator', async () => {
    const start = await (await fetch(`${platform.rootUrl}/docs/start.js`)).text();
    const [, address = ''] = /\burl: '([^']+)'/.exec(start) ?? [];
    expect((await fetch(new URL(address, page.url))).headers.get('content-type')).toBe('application/yaml');
    expect(start).toContain('validatorUrl: null');
    expect(start).not.toMatch(/https?:/);
  });
});

describe('400', () => {
  it('refuses a NUL in the name of a file', async () => {
    expect(await statusOf('/docs/swagger-ui.css%00')).toBe(400);
  });
});

describe('404', () => {
  it.each([
    '/docs/package.json',
    '/docs/../package.json',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e%2f%2e%2e%2fpackage.json',
    '/docs/__proto__',
    '/docs/constructor',
    '/docs/a/b',
  ])('serves no file at %s', async (path) => {
    expect(await statusOf(path)).toBe(404);
  });

  it('uses the common error envelope', async () => {
    const response = await fetch(`${platform.rootUrl}/docs/nothing.js`);
    expect((await errorOf(response)).code).toBe('NOT_FOUND');
  });
});

describe('the API description', () => {
  let document: Document;
  let response: Response;

  beforeAll(async () => {
    response = await fetch(`${platform.apiUrl}/openapi.yaml`);
    document = parse(await response.text()) as Document;
  });

  describe('200', () => {
    it('serves the description without credentials as YAML, compressed if requested', async () => {
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/yaml');
      const plain = await fetch(`${platform.apiUrl}/openapi.yaml`, {
        headers: { 'accept-encoding': 'identity' },
      });
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(parse(await plain.text())).toEqual(document);
    });

    it('is valid OpenAPI 3.1', async () => {
      expect(await new Validator().validate(structuredClone(document) as never)).toMatchObject({
        valid: true,
      });
    });

    it('has the revision of the build, and otherwise equals the file under version control', () => {
      expect(document.info.version).toBe(response.headers.get('x-svc-version'));
      const file = new URL('../../../../libs/openapi/openapi.yaml', import.meta.url);
      const kept = parse(readFileSync(file, 'utf8')) as Document;
      expect({ ...document, info: { ...document.info, version: kept.info.version } }).toEqual(kept);
    });

    it("describes the operator's API to the operator", async () => {
      const authorization = `Bearer ${OPERATOR_TOKEN}`;
      const answer = await fetch(`${platform.operatorUrl}/openapi.yaml`, { headers: { authorization } });
      expect(answer.status).toBe(200);
      const { paths } = parse(await answer.text()) as Document;
      expect(Object.keys(paths)).toContain('/operator/v1/accounts/{id}/credits');
    });
  });

  describe('401', () => {
    it("does not describe the operator's API to others", async () => {
      expect((await fetch(`${platform.operatorUrl}/openapi.yaml`)).status).toBe(401);
    });
  });
});

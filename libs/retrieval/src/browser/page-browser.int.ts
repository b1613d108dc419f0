import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { GuardedFetcher } from '@svc/guarded-fetch';
import { TestNetwork } from '@svc/guarded-fetch/testing';
import { TestServer, isLong } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, startChromium } from '../../test/chromium.js';
import { BrowserFailed } from './devtools.js';
import { PageBrowser } from './page-browser.js';

/** A real browser on a busy machine is slow; a passing test never waits this long. */
const SCRIPTS_MS = 20_000;

const closing: (() => unknown)[] = [];
let browserUrl = '';

beforeAll(async () => {
  if (!hasChromium) return;
  const browser = await startChromium();
  closing.push(() => browser.close());
  browserUrl = browser.url;
});
afterAll(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

interface Web {
  readonly requested: string[];
  readonly show: (html: string, signal?: AbortSignal) => Promise<string>;
}

/** An internet of one server, in which `in.example` is private. */
async function web(reply: RequestListener, scriptsMs = SCRIPTS_MS): Promise<Web> {
  const requested: string[] = [];
  const server = await TestServer.start((request, response) => {
    requested.push(`${request.headers.host}${request.url}`);
    reply(request, response);
  });
  ending.push(() => server.close());
  const names = { 'a.example': [['93.184.216.1']], 'in.example': [['10.0.0.1']] };
  const network = new TestNetwork({ names, elsewhere: Number(new URL(server.url).port) });
  const browser = new PageBrowser(new GuardedFetcher({}, network), {
    url: browserUrl,
    scriptsMs,
    bounds: { totalBytes: 8_000_000, timeoutMs: 10_000 },
  });
  const show = (html: string, signal = new AbortController().signal): Promise<string> =>
    browser.html(
      { url: 'http://a.example/page', contentType: 'text/html; charset=utf-8', bytes: Buffer.from(html) },
      signal,
    );
  return { requested, show };
}

const shell = (script: string): string =>
  `<!doctype html><html><body><div id="root"></div><script>${script}</script></body></html>`;
const put = (expression: string): string => `document.getElementById('root').textContent = ${expression};`;

describe.runIf(hasChromium)('a page that needs its scripts', () => {
  it('is rendered with the data that they fetch by the guarded fetcher', async () => {
    const { requested, show } = await web(({ url }, response) => {
      if (url === '/app.js')
        response
          .setHeader('content-type', 'text/javascript')
          .end(`fetch('/data.json').then((r) => r.json()).then((d) => { ${put('d.says')} })`);
      else
        response
          .setHeader('content-type', 'application/json')
          .end('{"says":"The tower is 330 metres tall."}');
    });
    const html = await show(
      '<body><div id="root"></div><img src="/i.png"><link rel="stylesheet" href="/s.css"><script src="/app.js"></script></body>',
    );
    expect(html).toContain('The tower is 330 metres tall.');
    expect(requested.toSorted()).toEqual(['a.example/app.js', 'a.example/data.json']);
  });

  it("can't reach this machine, its network, or its files in any way", async () => {
    let reached = 0;
    const canary = createServer((socket) => {
      reached += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    const udp = createSocket('udp4').on('message', () => (reached += 1));
    udp.bind(0, '127.0.0.1');
    await Promise.all([once(canary, 'listening'), once(udp, 'listening')]);
    ending.push(
      () => canary.close(),
      () => udp.close(),
    );
    const { port } = canary.address() as AddressInfo;
    // The page stays open while one of its requests is pending.
    let hold = (): unknown => undefined;
    const { requested, show } = await web(({ url }, response) => {
      if (url === '/hold') hold = () => response.end();
      else {
        hold();
        response.end();
      }
    });
    const html = await show(
      `<head><link rel="preconnect" href="http://127.0.0.1:${port}"><link rel="dns-prefetch" href="http://in.example">
      <link rel="prefetch" href="http://127.0.0.1:${port}/p"><link rel="modulepreload" href="http://127.0.0.1:${port}/m.js">
      <script type="speculationrules">{"prerender":[{"urls":["http://127.0.0.1:${port}/r"]}],"prefetch":[{"urls":["http://127.0.0.1:${port}/f"]}]}</script></head>
      <body><div id="root"></div><iframe src="http://127.0.0.1:${port}/i"></iframe><iframe src="file:///etc/passwd"></iframe>
      <img src="http://127.0.0.1:${port}/g.png"><object data="http://127.0.0.1:${port}/o"></object><video src="http://127.0.0.1:${port}/v"></video>
      <a id="d" download href="http://127.0.0.1:${port}/d">d</a><form id="f" method="post" target="w" action="http://127.0.0.1:${port}/form"></form>
      <script>
        const outcomes = [];
        const at = 'http://127.0.0.1:${port}/';
        const ways = {
          machine: () => fetch(at), name: () => fetch('http://localhost:${port}/'), cloud: () => fetch('http://169.254.169.254/latest'),
          inside: () => fetch('http://in.example/'), file: () => fetch('file:///etc/passwd'), other: () => fetch('http://0x7f000001:${port}/'),
          post: () => fetch(at, { method: 'POST', mode: 'no-cors', body: 'x' }),
          socket: () => new Promise((yes, no) => { const s = new WebSocket('ws://127.0.0.1:${port}/'); s.onopen = yes; s.onerror = no; }),
          worker: () => new Promise((yes, no) => { const w = new Worker(URL.createObjectURL(new Blob(["fetch('" + at + "w').then(() => postMessage(1), () => postMessage(0))"]))); w.onmessage = ({ data }) => data ? yes() : no(); setTimeout(no, 500); }),
          events: () => new Promise((yes, no) => { const e = new EventSource(at); e.onopen = yes; e.onerror = no; }),
          service: () => navigator.serviceWorker.register('/sw.js'),
          peers: () => { const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp.address().port}' }] }); p.createDataChannel('x'); return p.createOffer().then((o) => p.setLocalDescription(o)); },
        };
        const held = fetch('/hold');
        navigator.sendBeacon?.(at + 'b', 'x');
        open(at + 'open');
        document.getElementById('d').click();
        document.getElementById('f').submit();
        const all = Object.entries(ways).map(async ([name, way]) => { try { await way(); outcomes.push(name); } catch {} });
        Promise.all(all).then(() => { ${put("'reached: ' + outcomes.join()")} fetch('/done'); });
        setTimeout(() => { location.href = at + 'go'; }, 50);
      </script></body>`,
    );
    expect(html).toMatch(/<div id="root">reached: <\/div>/);
    expect(html).not.toContain('root:x:');
    expect(reached).toBe(0);
    expect(requested).toEqual(['a.example/hold', 'a.example/done']);
  });

  it('is closed with all its requests when its caller aborts', async () => {
    let gone = 0;
    const { requested, show } = await web((_, response) => void response.once('close', () => (gone += 1)));
    const leaving = new AbortController();
    const shown = show(shell(`fetch('/hang').catch(() => {})`), leaving.signal);
    await expect.poll(() => requested, { timeout: SCRIPTS_MS }).toEqual(['a.example/hang']);
    leaving.abort(new Error('nobody waits'));
    await expect(shown).rejects.toThrow('nobody waits');
    await expect.poll(() => gone, { timeout: SCRIPTS_MS }).toBe(1);
    await expect.poll(pagesOpen, { timeout: SCRIPTS_MS }).toBe(1);
  });

  it('fails without a browser', async () => {
    const browser = new PageBrowser(new GuardedFetcher(), {
      url: 'http://127.0.0.1:9',
      scriptsMs: 1_000,
      bounds: { totalBytes: 1, timeoutMs: 1 },
    });
    const document = { url: 'http://a.example/', contentType: '', bytes: Buffer.alloc(0) };
    await expect(browser.html(document, new AbortController().signal)).rejects.toThrow(BrowserFailed);
  });
});

/** The open pages of the browser, including its own empty one. */
async function pagesOpen(): Promise<number> {
  const targets = (await (await fetch(`${browserUrl}/json/list`)).json()) as { type: string }[];
  return targets.filter(({ type }) => type === 'page').length;
}

describe.runIf(hasChromium && isLong)('a hostile page', () => {
  it.each([
    ['never ends', 'for (;;);'],
    ['asks for ever', `(function go() { fetch('/x').then(go, go); })()`],
    ['grows for ever', `setInterval(() => { document.body.append('x'.repeat(1e6)); }, 1)`],
    ['is 500 MB', `document.body.append('x'.repeat(5e8))`],
    ['speaks in windows', `for (;;) alert('x')`],
    [
      'makes workers',
      `for (let i = 0; i < 1e3; i += 1) new Worker(URL.createObjectURL(new Blob(['for(;;);'])))`,
    ],
    ['goes elsewhere', `for (let i = 0; i < 1e3; i += 1) open('http://a.example/' + i)`],
    ['goes on', `location.href = '/on'`],
  ])('ends in time, and leaves nothing behind: it %s', async (_, script) => {
    const { requested, show } = await web((_request, response) => response.end('x'.repeat(100_000)), 2_000);
    const failed = (error: unknown): string =>
      error instanceof BrowserFailed ? '' : String(error).repeat(1e6);
    const html = await show(shell(script)).catch(failed);
    expect(html.length).toBeLessThanOrEqual(2_000_000);
    expect(requested.length).toBeLessThanOrEqual(80);
    await expect.poll(pagesOpen, { timeout: SCRIPTS_MS }).toBe(1);
  });

  it('gets no more than its byte limit', async () => {
    const { show } = await web((_request, response) => response.end('x'.repeat(2_500_000)));
    const html = await show(
      shell(
        `let n = 0; Promise.allSettled(Array.from({ length: 10 }, (_, i) => fetch('/' + i).then((r) => r.text()).then((t) => { n += t.length; }))).then(() => { ${put('n')} })`,
      ),
    );
    const [, bytes = ''] = /<div id="root">(\d+)</.exec(html) ?? [];
    expect(Number(bytes)).toBeGreaterThan(0);
    expect(Number(bytes)).toBeLessThanOrEqual(8_000_000);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../response-bodies.js';
import { HostileHarness } from './harness.js';

const TEST_MS = 1_800_000;
const PAGES = 200;
const PAGE_BYTES = 2_000_000;

/**
 * The time that reading pages may add to a turn of the event loop: 20 ms on a 3 GHz core. Reading a page
 * on the loop takes many times as long.
 */
const ADDED_UNITS = 0.4;
/** They arrive one after the other, and all are there long before the first has been read. */
const ARRIVAL_MS = 5;
/** No disturbance causes a larger difference, so there is no further attempt. */
const HOPELESS_UNITS = 5;
/** The lowest value of this number of attempts is the least disturbed one. */
const TRIES = 5;

/**
 * Pages that are read concurrently take three times their bytes; threads need heaps, and responses memory.
 */
const GROWN_BYTES = 900_000_000;

const WORDS = 'the tower is said to be three hundred and thirty metres tall and stands by the river';

/** Some are prose, some tables, some only elements. */
const UNITS = [
  `<p>${WORDS}, ${WORDS}.</p>`,
  `<table><tr><td>${WORDS}</td><td><a href="/x">a</a></td></tr></table>`,
  `<div class="nav"><b><i>${WORDS}`,
  `<div>${WORDS}</div>`,
];
const PAGE = UNITS.map((unit) =>
  Buffer.from(
    `<html><body><article><h1>T</h1>${unit.repeat(Math.ceil(PAGE_BYTES / unit.length))}</article></body></html>`,
  ),
);

let web: TestServer;
let harness: HostileHarness;
let underWay = 0;

beforeAll(async () => {
  web = await TestServer.start(({ url = '' }, response) => {
    underWay += 1;
    response.once('close', () => (underWay -= 1));
    if (url.startsWith('/robots')) response.writeHead(404).end();
    else if (url.startsWith('/hang')) response.writeHead(200, { 'content-type': 'text/html' }).write('<p>');
    else response.setHeader('content-type', 'text/html').end(PAGE[Number(url.slice(1)) % PAGE.length]);
  });
  const hosts = new URL(web.url).host;
  harness = await HostileHarness.start({
    web: { extras: { webPage: 0.01 } },
    env: {
      GATEWAY_PRIVATE_HOSTS: hosts,
      RETRIEVAL_PRIVATE_HOSTS: hosts,
      RETRIEVAL_HOST_PAUSE_MS: '0',
      RETRIEVAL_PAGE_TIMEOUT_MS: '600000',
      RETRIEVAL_TIMEOUT_MS: '600000',
      GATEWAY_AUGMENT_PER_MINUTE: '100000',
      GATEWAY_ACCOUNT_CONCURRENCY: '0',
    },
  });
});
afterAll(async () => {
  await harness.stop();
  await web.close();
});

function scrape(apiKey: string, path: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${harness.platform.apiUrl}/augment/scrape`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: new URL(path, web.url) }),
    ...(signal && { signal }),
  });
}

/** Requests this number of pages, one soon after the other, and returns the results. */
async function statusesFor(apiKey: string, pathOf: (index: number) => string): Promise<Set<number>> {
  const statuses = await Promise.all(
    Array.from({ length: PAGES }, async (_, index) => {
      // Two hundred requests that arrive in one turn make it long, whatever their content.
      await sleep(index * ARRIVAL_MS);
      const response = await scrape(apiKey, pathOf(index));
      await response.arrayBuffer();
      return response.status;
    }),
  );
  return new Set(statuses);
}

it(
  `${PAGES} pages of 2 MB at once are read off the event loop, in bounded memory`,
  { timeout: TEST_MS },
  async () => {
    const { apiKey } = await harness.platform.account('100.00');
    const read = async (): Promise<void> =>
      expect(await statusesFor(apiKey, (index) => `/${index}`)).toEqual(new Set([200]));
    // The baseline: the same requests and holds, for pages that are not read.
    const refused = async (): Promise<void> =>
      expect(await statusesFor(apiKey, (index) => `https://x.com/${index}`)).toEqual(new Set([400]));
    await refused();
    const added: number[] = [];
    const isDisturbed = (units: number): boolean => units > ADDED_UNITS && units < HOPELESS_UNITS;
    while (added.length < TRIES && added.every(isDisturbed)) {
      const without = await harness.probe.longestHold(refused);
      const held = await harness.probe.longestHold(read);
      added.push(held - without);
      process.stdout.write(
        `held for ${held.toFixed(2)} units at most, ${without.toFixed(2)} without pages, grown by ${Math.round(harness.grownBytes / 1e6)} MB\n`,
      );
      expect(harness.grownBytes).toBeLessThan(GROWN_BYTES);
    }
    expect(Math.min(...added)).toBeLessThanOrEqual(ADDED_UNITS);
  },
);

it(
  'pages whose client has left are dropped, in progress and in the queue, and not charged',
  { timeout: TEST_MS },
  async () => {
    const { id, apiKey } = await harness.platform.account('1.00');
    const leaving = new AbortController();
    const responses = Array.from({ length: PAGES / 2 }, () =>
      scrape(apiKey, '/hang', leaving.signal).catch((error: unknown) => error),
    );
    await eventually('some are under way', () => underWay > 0);
    leaving.abort();
    await Promise.all(responses);
    await eventually('all are let go', () => underWay === 0);
    // The next page is read at once, so the queue is empty.
    const response = await scrape(apiKey, '/0');
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    await eventually('one is charged', async () => (await harness.platform.balances(id)).usd === '0.99');
    expect(underWay).toBe(0);
  },
);

it('leave nothing behind', { timeout: TEST_MS }, async () => {
  expect(await harness.afterwards()).toEqual([]);
});

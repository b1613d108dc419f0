import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { INSPECTED } from '../memory.js';
import { eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import { ServiceProbe } from '../probe.js';

const STREAMS = 10;
/** Two measurements that differ by less are the same. */
const SETTLED_BYTES = 100_000;

let platform: Platform;
let account: TestAccount;
let probe: ServiceProbe;

beforeAll(async () => {
  const models = [{ id: 'roomy', contextTokens: 10_000_000 }];
  platform = await Platform.start({ models, env: INSPECTED });
  account = await platform.account('100.00');
  probe = await ServiceProbe.connect(platform.service.output);
});

afterAll(async () => {
  probe.close();
  await platform.stop();
});

const ENDPOINTS = {
  'chat/completions': (text: string) => ({ messages: [{ role: 'user', content: text }] }),
  completions: (text: string) => ({ prompt: text }),
  responses: (text: string) => ({ input: text }),
  messages: (text: string) => ({ messages: [{ role: 'user', content: text }], max_tokens: 100 }),
};

/** Opens streams whose second token comes much later. Returns a function that ends them. */
async function open(path: string, body: object): Promise<() => Promise<void>> {
  const leaving = new AbortController();
  const opened = Array.from({ length: STREAMS }, async () => {
    const response = await fetch(`${platform.apiUrl}/${path}`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'roomy', stream: true, ...body }),
    });
    expect(response.status).toBe(200);
    await response.body?.getReader().read();
  });
  await Promise.all(opened);
  return async () => {
    leaving.abort();
    await eventually('the streams end', () => platform.simulator.stats().inFlight === 0);
  };
}

/** What the process keeps once it has finished its earlier work. */
async function keptBytes(): Promise<number> {
  let lastBytes = Number.POSITIVE_INFINITY;
  for (;;) {
    const bytes = await probe.heldBytes();
    if (lastBytes - bytes < SETTLED_BYTES) return bytes;
    lastBytes = bytes;
    await sleep(100);
  }
}

it.each([
  ['chat/completions', 200_000],
  ['chat/completions', 1_000_000],
  ['completions', 200_000],
  ['responses', 200_000],
  ['messages', 1_000_000],
] as const)('an open stream of %s keeps its prompt of %i characters once', async (path, size) => {
  const body = ENDPOINTS[path](`${'words '.repeat(size / 6)} [[sim tokens=2 itl-ms=300000]]`);
  const leaveFirst = await open(path, body);
  await leaveFirst();
  const beforeBytes = await keptBytes();
  const leave = await open(path, body);
  const heldBytes = (await probe.heldBytes()) - beforeBytes;
  await leave();
  // Garbage from before may have been collected meanwhile.
  expect(heldBytes / STREAMS).toBeGreaterThan(0.8 * size);
  expect(heldBytes / STREAMS).toBeLessThan(1.5 * size);
});

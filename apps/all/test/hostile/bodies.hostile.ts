import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decent } from './hostile-backend.js';
import { RawRequest } from './raw-requests.js';
import { HostileHarness } from './harness.js';

let harness: HostileHarness;

beforeAll(async () => {
  harness = await HostileHarness.start();
  harness.backend.behave = decent();
});

afterAll(async () => {
  await harness.stop();
});

const MB = 1_000_000;
const TEST_MS = 240_000;

const headOf = (target: string, headers: Record<string, string | number>): string =>
  [
    `POST ${target} HTTP/1.1`,
    'host: x',
    'content-type: application/json',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n') + '\r\n\r\n';

const authorized = (): Record<string, string> => ({ authorization: `Bearer ${harness.apiKey}` });

/** Sends this number of bytes without completing the body, at once or until there is a response. */
async function flood(target: string, bytes: string, headers: Record<string, string> = {}): Promise<number> {
  const request = await RawRequest.open(harness.platform.rootUrl);
  request.write(headOf(target, { 'content-length': bytes.length, ...headers }));
  request.write(bytes);
  const status = await request.status();
  request.close();
  return status;
}

const STRANGERS = [
  ['/api/v1/api_keys', 401],
  ['/api/v1/chat/completions', 402],
  ['/api/v1/nowhere', 404],
  ['/', 405],
] as const;

describe.each(['[', '{"a":', '"', ' ', '0,'])('30 MB of %j', (unit) => {
  const bytes = unit.repeat((30 * MB) / unit.length);

  it(
    'without credentials are not read: the caller gets a 401, and no other request waits',
    { timeout: TEST_MS },
    async () => {
      for (const [target, status] of STRANGERS) {
        let units = Number.POSITIVE_INFINITY;
        for (let attempt = 0; attempt < 5 && units >= 1; attempt += 1)
          units = Math.min(
            units,
            await harness.probe.longestHold(async () =>
              expect([status, 0]).toContain(await flood(target, bytes)),
            ),
          );
        expect(units).toBeLessThan(1);
      }
    },
  );

  it('with credentials are refused if they are too large for the route', { timeout: TEST_MS }, async () => {
    for (const target of ['/api/v1/api_keys', '/api/v1/models'])
      expect([401, 404, 405, 413, 0]).toContain(await flood(target, bytes, authorized()));
  });

  it(
    'with credentials block the event loop no longer than a unit of work',
    { timeout: TEST_MS },
    async () => {
      let units = Number.POSITIVE_INFINITY;
      const act = async (): Promise<void> => {
        expect([400, 0]).toContain(await flood('/api/v1/chat/completions', bytes, authorized()));
      };
      for (let attempt = 0; attempt < 5 && units >= 1; attempt += 1)
        units = Math.min(units, await harness.probe.longestHold(act));
      expect(units).toBeLessThan(1);
    },
  );
});

it(
  'stalled uploads take no more memory than one caller may use, and other requests are admitted',
  { timeout: TEST_MS },
  async () => {
    const other = await harness.open('1.00');
    const before = await harness.probe.heldBytes();
    const stalled: RawRequest[] = [];
    for (let count = 0; count < 60; count += 1) {
      const request = await RawRequest.open(harness.platform.rootUrl);
      request.write(headOf('/api/v1/chat/completions', { ...authorized(), 'transfer-encoding': 'chunked' }));
      const piece = `{"x":"${'a'.repeat(5 * MB)}`;
      request.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      stalled.push(request);
    }
    const statuses = Promise.all(stalled.map((request) => request.status()));
    await expect
      .poll(async () => (await harness.probe.heldBytes()) - before, { timeout: 30_000, interval: 500 })
      .toBeGreaterThan(64 * MB);
    expect((await harness.say('hi', {}, { apiKey: other })).status).toBe(200);
    // A part of 128 MiB, plus the data in transit.
    expect((await harness.probe.heldBytes()) - before).toBeLessThan(200 * MB);
    for (const request of stalled) request.close();
    expect(new Set(await statuses)).toEqual(new Set([0, 429]));
  },
);

it('leave nothing behind', async () => {
  expect(await harness.afterwards()).toEqual([]);
});

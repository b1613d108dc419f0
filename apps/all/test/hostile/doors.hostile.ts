import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN, Platform } from '../platform.js';
import { decent } from './hostile-backend.js';
import { answerTo } from './raw-requests.js';
import { HostileHarness } from './harness.js';

let harness: HostileHarness;

beforeAll(async () => {
  harness = await HostileHarness.start({ env: { GATEWAY_FAILURE_BLOCK: 'on' } });
  harness.backend.behave = decent();
});

afterAll(async () => {
  await harness.stop();
});

const origin = (url: string): string => new URL(url).origin;
const statusIn = (response: string): number => Number(response.split(' ')[1]);

/** All spellings of a path that a router or a proxy might treat as equal. */
function spellings(path: string): string[] {
  const [, first = '', ...rest] = path.split('/');
  const tail = rest.join('/');
  const escaped = `%${first.charCodeAt(0).toString(16)}${first.slice(1)}`;
  const allEscaped = Array.from(first, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
  return [
    path,
    `/${escaped}/${tail}`,
    `/${allEscaped}/${tail}`,
    `/${first.toUpperCase()}/${tail}`,
    `//${first}/${tail}`,
    `/./${first}/${tail}`,
    `/x/../${first}/${tail}`,
    `/${first}%2f${tail}`,
    `/${first};a=b/${tail}`,
    `/${first}/${tail}/`,
    `/${first}/${tail}?x=y`,
    `/${first}/${tail}#x`,
    `\\${first}\\${tail}`,
    `http://x${path}`,
    `http://x/${escaped}/${tail}`,
    `HTTP://x${path}`,
    `http:${path}`,
    `x${path}`,
    `*`,
  ];
}

describe("the operator's API", () => {
  it.each(spellings('/operator/v1/ledger/audit'))(
    'is not available on the public port, even with its token: %s',
    async (target) => {
      const authorization = `Bearer ${OPERATOR_TOKEN}`;
      const response = await answerTo(harness.platform.rootUrl, { target, headers: { authorization } });
      expect([400, 404]).toContain(statusIn(response));
      expect(response).not.toContain('"ok"');
    },
  );

  it.each([
    'Bearer \xa0',
    'Bearer ',
    'Bearer',
    'Bearer undefined',
    'Bearer null',
    'bearer \t',
    'Basic Og==',
    '',
    '\xa0',
  ])('rejects requests without a token: %j', async (authorization) => {
    const target = '/operator/v1/ledger/audit';
    const response = await answerTo(origin(harness.platform.operatorUrl), {
      target,
      headers: { authorization },
    });
    expect(statusIn(response)).toBe(401);
  });

  it.each([' ', 'x', '\xa0', 'a'.repeat(31)])('rejects an empty or too short token: %j', async (token) => {
    const started = await Platform.start({ env: { SVC_OPERATOR_TOKEN: token } }).then(
      async (platform) => {
        await platform.stop();
        return 'it starts';
      },
      (error: unknown) => String(error),
    );
    expect(started).not.toBe('it starts');
  });
});

it.each(spellings('/api/v1/models'))(
  "the API of clients is not on the operator's port: %s",
  async (target) => {
    const headers = { authorization: `Bearer ${harness.apiKey}` };
    const response = await answerTo(origin(harness.platform.operatorUrl), { target, headers });
    expect([400, 404]).toContain(statusIn(response));
  },
);

it('blocks a client with too many failures, however the path is written', async () => {
  const headers = { authorization: 'Bearer SVC_INFERENCE_KEY_of_nobody', 'content-type': 'application/json' };
  const statuses: number[] = [];
  for (let count = 0; count < 30; count += 1) {
    const [target = ''] = spellings('/api/v1/chat/completions').slice(1);
    statuses.push(
      statusIn(await answerTo(harness.platform.rootUrl, { method: 'POST', target, headers, body: '{}' })),
    );
  }
  // Earlier tests of this file have caused failures.
  expect([401, 429]).toEqual(expect.arrayContaining(statuses));
  expect(statuses.at(-1)).toBe(429);
  for (const target of spellings('/api/v1/models').slice(0, 3))
    expect([404, 429]).toContain(statusIn(await answerTo(harness.platform.rootUrl, { target, headers })));
});

it('leave nothing behind', async () => {
  const faults = await harness.afterwards();
  expect(faults).toEqual([]);
});

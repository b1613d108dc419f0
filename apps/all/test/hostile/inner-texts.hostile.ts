import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postRpc } from '../rpc-payer.js';
import { ScriptedNode } from '../scripted-node.js';
import { decent } from './hostile-backend.js';
import { HostileHarness } from './harness.js';

let harness: HostileHarness;
let node: ScriptedNode;

const MB = 1_000_000;
const TEST_MS = 240_000;

/** What one turn of the event loop may take, in units. Without limits it is many times as much. */
const UNITS = 2;

beforeAll(async () => {
  node = await ScriptedNode.start();
  harness = await HostileHarness.start({
    models: [
      {
        id: 'voice',
        name: 'Voice',
        type: 'tts',
        tier: 'XS',
        voices: ['anna'],
        defaultVoice: 'anna',
        formats: ['mp3'],
        defaultFormat: 'mp3',
        pricing: { input: 1 },
      },
    ],
    cryptoRpc: {
      limits: { standard: { requestsPerMinute: 100_000, creditsPerMinute: 100_000_000 } },
      networks: { one: { family: 'evm', nodes: [{ name: 'node', url: node.url }] } },
    },
  });
  harness.backend.behave = decent();
});

afterAll(async () => {
  await harness.stop();
  await node.stop();
});

/** Texts whose parts are expensive for some reader of JSON, of about this size. */
const TEXTS: readonly (readonly [string, (size: number) => string])[] = [
  ['lists side by side', (size) => `[${'[],'.repeat(size / 3)}0]`],
  ['lists in lists', (size) => '['.repeat(size / 2) + ']'.repeat(size / 2)],
  [
    'lists in lists, side by side',
    (size) => `[${`${'['.repeat(90)}${']'.repeat(90)},`.repeat(size / 181)}0]`,
  ],
  ['objects', (size) => `[${'{"a":{}},'.repeat(size / 9)}0]`],
  ['different names', (size) => `{${Array.from({ length: size / 12 }, (_, at) => `"${at}":0`).join()}}`],
  ['quotes', (size) => '"'.repeat(size)],
  ['backslashes', (size) => `"${'\\'.repeat(size)}`],
  ['escaped backslashes', (size) => `["${'\\u005c'.repeat(size / 6)}"]`],
  ['colons and slashes', (size) => `[ ${'a:/ '.repeat(size / 4)}`],
  ['words', (size) => `[${'a'.repeat(size)}`],
];

const SIGNATURE_CHARACTERS = 65_500;
const question = { role: 'user', content: 'hi' };

/** Texts of this many bytes in all, as signatures of the longest size. */
function signatures(text: (size: number) => string, bytes: number): string[] {
  const signature = Buffer.from(text((SIGNATURE_CHARACTERS * 3) / 4 - 20)).toString('base64url');
  return Array.from({ length: bytes / SIGNATURE_CHARACTERS }, () => signature);
}

type Place = (text: (size: number) => string) => readonly [string, object];

const PLACES: readonly (readonly [string, Place])[] = [
  ['a field for a model server', (text) => ['audio/speech', { model: 'voice', input: 'a', x: text(6 * MB) }]],
  [
    'many fields for a model server',
    (text) => {
      const fields = Array.from({ length: 250 }, (_, at) => [`x${at}`, text(60_000)]);
      return ['audio/speech', { model: 'voice', input: 'a', ...Object.fromEntries(fields) }];
    },
  ],
  [
    'signatures of messages',
    (text) => {
      const content = signatures(text, 10 * MB).flatMap((signature) => [
        { type: 'thinking', thinking: 'a', signature: `svc1.${signature}` },
        { type: 'redacted_thinking', data: `svc1.${signature}` },
      ]);
      const messages = [question, { role: 'assistant', content }, question];
      return ['messages', { model: 'able', max_tokens: 5, messages }];
    },
  ],
  [
    'signatures of responses',
    (text) => {
      const items = signatures(text, 20 * MB).map((signature) => ({
        type: 'reasoning',
        summary: [],
        encrypted_content: signature,
      }));
      return ['responses', { model: 'able', max_output_tokens: 5, input: [...items, question] }];
    },
  ],
];

/** The longest turn of the event loop, in units: the shortest of several attempts. */
async function holdOf(act: () => Promise<void>): Promise<number> {
  let units = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5 && units >= UNITS; attempt += 1)
    units = Math.min(units, await harness.probe.longestHold(act));
  return units;
}

describe.each(PLACES)('texts in %s', (_place, place) => {
  it.each(TEXTS)(
    'of %s are refused or passed on without holding the event loop',
    { timeout: TEST_MS },
    async (_what, text) => {
      const [path, body] = place(text);
      const sent = JSON.stringify(body);
      // Too many refusals would block an account.
      const apiKey = await harness.open('10.00');
      const units = await holdOf(async () => {
        const response = await fetch(`${harness.platform.apiUrl}/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
          body: sent,
        });
        await response.arrayBuffer();
        expect([200, 400]).toContain(response.status);
      });
      expect(units).toBeLessThan(UNITS);
    },
  );
});

it.each(TEXTS)(
  'a response of a node with %s does not hold the event loop',
  { timeout: TEST_MS },
  async (_what, text) => {
    const apiKey = await harness.open('10.00');
    node.answer = () => ({ body: `{"jsonrpc":"2.0","id":0,"result":${text(8 * MB)}}` });
    const units = await holdOf(async () => {
      const call = { id: 1, method: 'eth_syncing' };
      const response = await postRpc(harness.platform, { network: 'one', by: { apiKey } }, call);
      await response.arrayBuffer();
      expect([200, 503]).toContain(response.status);
    });
    expect(units).toBeLessThan(UNITS);
  },
);

it('leave a working service', async () => {
  expect((await harness.say('hi')).status).toBe(200);
});

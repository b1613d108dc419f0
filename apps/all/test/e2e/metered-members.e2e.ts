import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';
import { ScriptedBackend, scriptMessage } from '../scripted-backend.js';

/** USD for a million tokens. The prompt, which has the script of the server, costs nothing. */
const PRICING = { input: 0, output: 2 };

let platform: Platform;
let scripted: ScriptedBackend;

beforeAll(async () => {
  scripted = await ScriptedBackend.start();
  platform = await Platform.start({
    models: [{ id: 'scripted', pricing: PRICING, backends: [{ url: scripted.url, model: 'scripted' }] }],
  });
});

afterAll(async () => {
  await platform.stop();
  await scripted.close();
});

const content = (text: string): object => ({ content: text });

/** Places in a message or delta that servers use, or may use one day. */
const PLACES: readonly (readonly [string, (text: string) => object])[] = [
  ['reasoning_details', (text) => ({ reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] })],
  ['reasoning_text', (reasoning_text) => ({ reasoning_text })],
  ['thinking', (thinking) => ({ thinking })],
  [
    'two names of reasoning',
    (text) => ({ reasoning: text, reasoning_details: [{ type: 'reasoning.text', text }] }),
  ],
  ['the transcript of an audio', (transcript) => ({ content: null, audio: { id: 'a', transcript } })],
  ['an annotation', (text) => ({ annotations: [{ type: 'note', note: { text } }] })],
  ['a member that nobody knows', (text) => ({ one: { two: [[{ three: text }]] } })],
];

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const ENDED = chunk({}, 'stop');

interface PaidOutput {
  /** In nano-dollars. */
  readonly spent: number;
  readonly text: string;
}

/** What an account gets of a script, and what it is charged. */
async function paidOutput(
  script: Parameters<typeof scriptMessage>[0],
  usd: string,
  more: object = {},
): Promise<PaidOutput> {
  const { id, apiKey } = await platform.account(usd);
  const body = { model: 'scripted', messages: [scriptMessage(script)], max_tokens: 8_000, ...more };
  const response = await platform.chat(apiKey, body);
  expect(response.status).toBe(200);
  const text = await response.text();
  return { text, spent: nano(usd) - nano((await platform.balances(id)).usd) };
}

const nano = (usd: string): number => Math.round(Number(usd) * 1e9);

describe.each(PLACES)('a text in %s', (_, place) => {
  const words = Array.from({ length: 300 }, (__, at) => ` word${at}`);

  it('is cut off in a stream once the balance is used up', async () => {
    const chunks = Array.from({ length: 3_000 }, () => chunk(place(' w')));
    const { text, spent } = await paidOutput({ chunks: [...chunks, ENDED] }, '0.002', { stream: true });
    expect(text).toContain('"finish_reason":"length"');
    // 0.002 USD pay for 1,000 tokens, and each piece is at least one.
    expect(text.split('" w"').length).toBeLessThan(2_100);
    expect(spent).toBeGreaterThan(0);
    expect(spent).toBeLessThanOrEqual(nano('0.002'));
  });

  it('costs the same as content, whether the response is streamed, buffered, in one piece or broken off', async () => {
    const ways: readonly ((where: (text: string) => object) => Promise<PaidOutput>)[] = [
      (where) =>
        paidOutput({ chunks: [...words.map((word) => chunk(where(word))), ENDED] }, '1.00', { stream: true }),
      (where) => paidOutput({ chunks: [...words.map((word) => chunk(where(word))), ENDED] }, '0.02'),
      (where) =>
        paidOutput(
          { answer: { choices: [{ index: 0, message: where(words.join('')), finish_reason: 'stop' }] } },
          '10.00',
        ),
      (where) =>
        paidOutput({ chunks: words.map((word) => chunk(where(word))), breaks: true }, '1.00', {
          stream: true,
        }),
    ];
    for (const way of ways) {
      const [odd, plain] = [await way(place), await way(content)];
      expect(plain.spent).toBeGreaterThan(300 * 1_000);
      expect(odd.spent).toBe(plain.spent);
    }
  });
});

it('charges a client that disconnects for a text in any member', async () => {
  const { id, apiKey } = await platform.account('1.00');
  const [, place] = PLACES.at(-1) ?? ['', content];
  const chunks = Array.from({ length: 7_000 }, () => chunk(place(' word'.repeat(20))));
  const gone = new AbortController();
  const body = { model: 'scripted', messages: [scriptMessage({ chunks })], stream: true };
  const response = await platform.chat(apiKey, body, { signal: gone.signal });
  await response.body?.getReader().read();
  gone.abort();
  await eventually('it is charged', async () => Number((await platform.balances(id)).usd) < 1);
  expect(Number((await platform.balances(id)).usd)).toBeGreaterThan(0);
});

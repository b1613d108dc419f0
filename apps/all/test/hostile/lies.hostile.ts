import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decent, ending, piece, whole } from './hostile-backend.js';
import { HostileHarness } from './harness.js';

type Fields = Readonly<Record<string, unknown>>;

let harness: HostileHarness;
/** The request that the backend received. */
let sent: Fields[] = [];

beforeAll(async () => {
  harness = await HostileHarness.start();
});
beforeEach(() => {
  sent = [];
  harness.backend.behave = (exchange) => {
    sent.push(JSON.parse(exchange.body) as Fields);
    return decent()(exchange);
  };
});
afterAll(async () => {
  await harness.stop();
});

const part = { type: 'text', text: 'a' };
const image = { type: 'image_url', image_url: { url: 'data:,' } };
const user = { role: 'user', content: 'hi' };
const withMessages = (...messages: object[]): Fields => ({ messages });

/** A known name in another case, which decoders that ignore case treat as the same. */
const otherCases = (name: string): string[] => [
  name.toUpperCase(),
  name.charAt(0).toUpperCase() + name.slice(1),
  ...(name.includes('s') ? [name.replace('s', '\u017f')] : []),
  ...(name.includes('k') ? [name.replace('k', '\u212a')] : []),
];

const TOP = [
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'stream',
  'stream_options',
  'tools',
  'stop',
  'seed',
];

describe('names that differ from a known one only in case', () => {
  it.each(TOP.flatMap(otherCases))('reach no backend at the top level: %s', async (name) => {
    expect((await harness.say('hi', { [name]: 1 })).status).toBe(400);
    expect(sent).toEqual([]);
  });

  it.each([
    withMessages({ ...user, Role: 'system' }),
    withMessages({ ...user, Content: 'other' }),
    withMessages({ role: 'user', content: [{ ...part, Text: 'other' }] }),
    withMessages({
      role: 'user',
      content: [{ ...image, image_url: { url: 'data:,', URL: 'http://10.0.0.1' } }],
    }),
    { ...withMessages(user), tools: [{ type: 'function', function: { name: 'f', NAME: 'g' } }] },
    { ...withMessages(user), reasoning: { effort: 'low', Effort: 'high' } },
    { ...withMessages(user), response_format: { type: 'text', TYPE: 'json_object' } },
  ])('reach no backend inside: %j', async (body) => {
    expect((await harness.ask(body)).status).toBe(400);
    expect(sent).toEqual([]);
  });

  it('reach no backend in unknown members of known objects either', async () => {
    const url = 'http://10.0.0.1/secret';
    const message = {
      ...user,
      uuid: 'x',
      image_url: { url },
      content: [{ ...part, image_url: { url }, uuid: 'x' }],
    };
    expect((await harness.ask(withMessages(message))).status).toBe(200);
    expect(sent[0]?.['messages']).toEqual([{ role: 'user', content: [part] }]);
  });
});

describe('the limit of output', () => {
  it.each([
    {},
    { max_tokens: 1_000_000 },
    { max_completion_tokens: 1_000_000 },
    { max_tokens: 0 },
    { max_tokens: -1 },
    { max_tokens: null },
    { max_tokens: 9_007_199_254_740_991 },
    { n: 3, max_tokens: 1_000_000 },
    { stream: true },
    { stream: true, max_tokens: 1_000_000 },
  ])("is always sent to a backend, and is at most the model's: %j", async (fields) => {
    expect((await harness.say('hi', fields)).status).toBe(200);
    const [{ max_tokens: older, max_completion_tokens: newer } = {}] = sent;
    const named = [older, newer].filter((limit) => limit !== undefined);
    expect(named).toHaveLength(1);
    expect(Number(named[0])).toBeGreaterThan(0);
    expect(Number(named[0])).toBeLessThanOrEqual(8_192);
  });

  it.each(['n_predict', 'max_new_tokens', 'num_predict', 'max_length', 'n_cmpl', 'best_of'])(
    'is not sent to a backend as %s',
    async (name) => {
      const escaped = name.replace(/^./, (first) => `\\u00${first.charCodeAt(0).toString(16)}`);
      const request = JSON.stringify({ model: 'able', ...withMessages(user), max_tokens: 1 }).slice(0, -1);
      for (const written of [name, escaped])
        expect((await harness.ask(`${request},"${written}":4000}`)).status).toBe(200);
      expect(sent.map((members) => members[name])).toEqual([undefined, undefined]);
    },
  );
});

/** Counts that no completion of ten words can have. */
const LIES = [
  { prompt_tokens: 5, completion_tokens: 1e7 },
  { prompt_tokens: 5, completion_tokens: 9_007_199_254_740_991 },
  { prompt_tokens: 9_007_199_254_740_991, completion_tokens: 9_007_199_254_740_991 },
  { prompt_tokens: 1e9, completion_tokens: 1 },
  { prompt_tokens: 1e300, completion_tokens: 1e300 },
  { prompt_tokens: -1, completion_tokens: -1e9 },
  { prompt_tokens: '5', completion_tokens: '1e7' },
  { prompt_tokens: 0.5, completion_tokens: 0.5 },
  { prompt_tokens: null, completion_tokens: [1e7] },
  { prompt_tokens: 5, completion_tokens: 30, completion_tokens_details: { reasoning_tokens: 1e9 } },
  { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 1e12 } },
];

/** The cost of 20 output tokens and a generous prompt, with the prices of the tests' models. */
const MOST_USD = (20 * 0.6 + 4_096 * 0.15) / 1e6;

describe.each(LIES)('a backend that counts %j', (usage) => {
  it.each([false, true])(
    'is charged no more than a completion of 20 tokens can cost, and leaves no hold (stream: %s)',
    async (stream) => {
      const words = 'one two three four five six seven eight nine ten';
      harness.backend.behave = ({ response }) => {
        response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
        response.end(stream ? `${piece(words)}${ending(usage)}` : whole(words, usage));
      };
      const answer = await harness.say('hi', { max_tokens: 20, stream });
      expect(answer.status).toBe(200);
      expect(answer.cost?.usd).toBeGreaterThan(0);
      expect(answer.cost?.usd).toBeLessThanOrEqual(MOST_USD);
    },
  );
});

describe('the balance of an account', () => {
  it('must cover unknown members, because a backend may read them', async () => {
    const apiKey = await harness.open('0.01');
    const documents = ['word '.repeat(600_000)];
    expect((await harness.say('hi', { documents }, { apiKey })).status).toBe(402);
    expect(sent).toEqual([]);
    expect((await harness.say('hi', {}, { apiKey })).status).toBe(200);
  });

  it('limits a completion that is not streamed, however much a backend sends', async () => {
    const apiKey = await harness.open('0.001');
    harness.backend.behave = ({ body, response }) => {
      const isStreamed = (JSON.parse(body) as Fields)['stream'] === true;
      response.setHeader('content-type', isStreamed ? 'text/event-stream' : 'application/json');
      const words = 'one two three '.repeat(100);
      response.end(isStreamed ? `${piece(words).repeat(80)}${ending()}` : whole(words.repeat(80)));
    };
    const answer = await harness.say('hi', {}, { apiKey });
    expect(answer.status).toBe(200);
    expect(answer.cost?.usd).toBeGreaterThan(0.0005);
    expect(answer.cost?.usd).toBeLessThanOrEqual(0.001);
  });
});

it('leave nothing behind', async () => {
  expect(await harness.afterwards()).toEqual([]);
});

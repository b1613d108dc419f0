import type { ChatResponse, Fields, Piece } from '@svc/contracts/inference';
import { describe, expect, it } from 'vitest';
import { replying, streaming } from '../../test/backend.js';
import { RouterFixture } from '../../test/router-fixture.js';
import { patientRouter } from '../../test/routing.js';

const event = (
  parts: readonly object[],
  more: object = {},
  usageMetadata: object = { promptTokenCount: 50 },
) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  usageMetadata,
  modelVersion: 'gemini-3-pro',
  responseId: 'r',
});

const USAGE = {
  promptTokenCount: 50,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 14,
  thoughtsTokenCount: 6,
  toolUsePromptTokenCount: 3,
  totalTokenCount: 73,
};
const WEATHER = { functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'CiQB==' };
const NOW = { functionCall: { id: 'own_2', name: 'now' } };

const EVENTS = [
  event([{ text: '**The** ', thought: true }]),
  event([{ text: 'weather 🌦.', thought: true }]),
  event([{ text: 'I look. ' }]),
  event([{ text: '"é"', thoughtSignature: 'CiAB==' }]),
  event([WEATHER, NOW]),
  event([{ text: '' }], { finishReason: 'STOP' }, USAGE),
];
const WHOLE = event(
  [
    { text: '**The** weather 🌦.', thought: true },
    { text: 'I look. "é"', thoughtSignature: 'CiAB==' },
    WEATHER,
    NOW,
  ],
  { finishReason: 'STOP' },
  USAGE,
);

const COUNTS = {
  promptTokens: 53,
  completionTokens: 20,
  cachedTokens: 40,
  cacheWriteTokens: 0,
  reasoningTokens: 6,
};

const sse = (events: readonly object[]): string =>
  events.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join('');

async function read(response: ChatResponse): Promise<Piece[]> {
  const pieces: Piece[] = [];
  const arrivals = response.arrivals({ idleTimeoutMs: 60_000, onRepetition: undefined });
  for await (const events of Symbol.asyncIterator in arrivals ? arrivals : [arrivals])
    for (const each of events) pieces.push(...response.read(each));
  return pieces;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What all pieces say together. */
function together(pieces: readonly Piece[]) {
  const sum = { content: '', reasoning: '', signature: '', calls: [] as unknown[], ends: [] as unknown[] };
  for (const { delta, end } of pieces) {
    sum.content += text(delta['content']);
    sum.reasoning += text(delta['reasoning_content']);
    sum.signature += text(delta['thought_signature']);
    sum.calls.push(...((delta['tool_calls'] as Fields[] | undefined) ?? []));
    if (end !== null) sum.ends.push(end);
  }
  return sum;
}

const ALL = {
  content: 'I look. "é"',
  reasoning: '**The** weather 🌦.',
  signature: 'CiAB==',
  calls: [
    {
      index: 0,
      id: expect.stringMatching(/^call_[0-9a-f]{24}$/) as string,
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Oslo"}' },
      extra_content: { google: { thought_signature: 'CiQB==' } },
    },
    { index: 1, id: 'own_2', type: 'function', function: { name: 'now', arguments: '{}' } },
  ],
  ends: ['stop'],
};

const CALL = {
  requestId: 'r',
  accountId: 'a',
  model: 'm',
  body: [Buffer.from('{"messages":[{"role":"user","content":"Hi"}],"max_tokens":5}')],
};
const { signal } = new AbortController();

describe('a backend of the kind gemini', () => {
  const fixture = new RouterFixture(patientRouter);
  const settings = { kind: 'gemini' };

  it('streams and responds as a whole, with usage in which reasoning counts as output', async () => {
    const backend = await fixture.givenOne(streaming(sse(EVENTS)), settings);
    const streamed = await fixture.router.chat.stream(CALL, signal);
    expect(together(await read(streamed))).toEqual(ALL);
    expect(streamed.facts.reported).toEqual(COUNTS);
    backend.reply = replying(WHOLE);
    const whole = await fixture.router.chat.complete(CALL, signal);
    expect(together(await read(whole))).toEqual(ALL);
    expect(whole.facts.reported).toEqual(COUNTS);
    expect(backend.requests.map(({ url }) => url)).toEqual([
      '/v1/models/x:streamGenerateContent?alt=sse',
      '/v1/models/x:generateContent',
    ]);
    expect(JSON.parse(backend.requests[0]?.body ?? '')).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 5 },
    });
  });

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['OTHER', 'stop'],
  ])('ends with %s as %s', async (finishReason, end) => {
    await fixture.givenOne(replying(event([{ text: 'Hi' }], { finishReason })), settings);
    expect(together(await read(await fixture.router.chat.complete(CALL, signal))).ends).toEqual([end]);
  });

  it('ends as filtered for a prompt that is blocked', async () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } };
    const backend = await fixture.givenOne(replying(blocked), settings);
    const whole = await fixture.router.chat.complete(CALL, signal);
    expect(together(await read(whole))).toMatchObject({ content: '', ends: ['content_filter'] });
    expect(whole.facts.reported).toMatchObject({ promptTokens: 4, completionTokens: 0 });
    backend.reply = streaming(sse([blocked]));
    const streamed = await fixture.router.chat.stream(CALL, signal);
    expect(together(await read(streamed)).ends).toEqual(['content_filter']);
  });

  it('fails for a call that the model made in a wrong form', async () => {
    const failed = event([], { finishReason: 'MALFORMED_FUNCTION_CALL' });
    await fixture.givenOne(replying(failed), settings);
    const response = await fixture.router.chat.complete(CALL, signal);
    await expect(read(response)).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
  });

  const error = (code: number, status: string, message = 'No.') => ({ error: { code, status, message } });

  it.each([
    [
      400,
      error(
        400,
        'INVALID_ARGUMENT',
        'The input token count (9) exceeds the maximum number of tokens allowed (8).',
      ),
      'TOO_MANY_TOKENS',
    ],
    [400, error(400, 'INVALID_ARGUMENT', 'Unable to process input image.'), 'INVALID_REQUEST'],
    [
      400,
      error(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'),
      'INFERENCE_FAILED',
    ],
    [403, error(403, 'PERMISSION_DENIED'), 'INFERENCE_FAILED'],
    [404, error(404, 'NOT_FOUND'), 'INFERENCE_FAILED'],
    [429, error(429, 'RESOURCE_EXHAUSTED'), 'MODEL_AT_CAPACITY'],
    [500, error(500, 'INTERNAL'), 'INFERENCE_FAILED'],
    [503, error(503, 'UNAVAILABLE'), 'MODEL_AT_CAPACITY'],
    [200, error(503, 'UNAVAILABLE'), 'MODEL_AT_CAPACITY'],
  ])('refuses with status %d and %j as %s', async (status, body, code) => {
    const backend = await fixture.givenOne(replying(body, status), settings);
    await expect(fixture.router.chat.complete(CALL, signal)).rejects.toMatchObject({ code });
    if (status === 200) backend.reply = streaming(sse([body]));
    await expect(fixture.router.chat.stream(CALL, signal)).rejects.toMatchObject({ code });
  });

  it('is not charged as complete if an error comes after its first piece, or its events end', async () => {
    const backend = await fixture.givenOne(
      streaming(sse([...EVENTS.slice(0, 3), error(500, 'INTERNAL')])),
      settings,
    );
    for (const reply of [backend.reply, streaming(sse(EVENTS.slice(0, 3)))]) {
      backend.reply = reply;
      const response = await fixture.router.chat.stream(CALL, signal);
      await expect(read(response)).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    }
  });
});

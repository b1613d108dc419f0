import { Catalog } from '@svc/catalog';
import type { ChatResponse, Fields, Piece } from '@svc/contracts/inference';
import { describe, expect, it } from 'vitest';
import { isSignedBy } from '../../test/aws-signature.js';
import { type BackendRequest, type Reply, TestBackend, replying } from '../../test/backend.js';
import { bedrockEvent, bedrockException } from '../../test/event-frames.js';
import { RouterFixture } from '../../test/router-fixture.js';
import { catalogFile, patientRouter, quickRouter } from '../../test/routing.js';

const SIGN_KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'secret/of+the test',
  sessionToken: 'of-a-session',
};
const SECRETS: Readonly<Record<string, string>> = {
  PLAIN: 'bedrock-api-key-1',
  SIGNING: JSON.stringify({ ...SIGN_KEYS, region: 'eu-central-1' }),
  NOWHERE: JSON.stringify(SIGN_KEYS),
  BROKEN: '{"accessKeyId":"AKID',
};

const USAGE = {
  inputTokens: 7,
  outputTokens: 20,
  totalTokens: 80,
  cacheReadInputTokens: 40,
  cacheWriteInputTokens: 13,
  cacheDetails: [
    { ttl: '5m', inputTokens: 9 },
    { ttl: '1h', inputTokens: 4 },
  ],
};
const COUNTS = {
  promptTokens: 60,
  completionTokens: 20,
  cachedTokens: 40,
  cacheWriteTokens: 13,
  hourCacheWriteTokens: 4,
  reasoningTokens: 0,
};

const delta = (contentBlockIndex: number, part: object): Buffer =>
  bedrockEvent('contentBlockDelta', { contentBlockIndex, delta: part, p: 'abcdefgh' });
const stop = (contentBlockIndex: number): Buffer => bedrockEvent('contentBlockStop', { contentBlockIndex });
const start = (contentBlockIndex: number, toolUseId: string, name: string): Buffer =>
  bedrockEvent('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } });

const EVENTS = [
  bedrockEvent('messageStart', { role: 'assistant' }),
  delta(0, { reasoningContent: { text: '**The** ' } }),
  delta(0, { reasoningContent: { text: 'weather 🌦.' } }),
  delta(0, { reasoningContent: { signature: 'EqoB==' } }),
  stop(0),
  delta(1, { reasoningContent: { redactedContent: 'c2VjcmV0' } }),
  stop(1),
  delta(2, { text: 'I look. ' }),
  delta(2, { text: '"é"' }),
  stop(2),
  start(3, 'tooluse_1', 'weather'),
  delta(3, { toolUse: { input: '{"city":' } }),
  delta(3, { toolUse: { input: '"Oslo"}' } }),
  stop(3),
  start(4, 'tooluse_2', 'now'),
  stop(4),
  bedrockEvent('messageStop', { stopReason: 'tool_use' }),
  bedrockEvent('metadata', { usage: USAGE, metrics: { latencyMs: 12 } }),
];
const WHOLE = {
  output: {
    message: {
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: '**The** weather 🌦.', signature: 'EqoB==' } } },
        { reasoningContent: { redactedContent: 'c2VjcmV0' } },
        { text: 'I look. "é"' },
        { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Oslo' } } },
        { toolUse: { toolUseId: 'tooluse_2', name: 'now', input: {} } },
      ],
    },
  },
  stopReason: 'tool_use',
  usage: USAGE,
  metrics: { latencyMs: 12 },
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What all pieces say together. */
function together(pieces: readonly Piece[]) {
  const calls: { id?: unknown; name: string; arguments: string }[] = [];
  const sum = { content: '', reasoning: '', details: [] as unknown[], calls, ends: [] as unknown[] };
  for (const { delta: part, end } of pieces) {
    sum.content += text(part['content']);
    sum.reasoning += text(part['reasoning_content']);
    sum.details.push(...((part['reasoning_details'] as Fields[] | undefined) ?? []));
    for (const { index, id, function: called } of (part['tool_calls'] as Fields[] | undefined) ?? []) {
      const call = (calls[Number(index)] ??= { id, name: '', arguments: '' });
      call.name += text((called as Fields)['name']);
      call.arguments += text((called as Fields)['arguments']);
    }
    if (end !== null) sum.ends.push(end);
  }
  return sum;
}

const ALL = {
  content: 'I look. "é"',
  reasoning: '**The** weather 🌦.',
  details: [
    {
      type: 'reasoning.text',
      text: '**The** weather 🌦.',
      signature: 'EqoB==',
      format: 'anthropic-claude-v1',
      index: 0,
    },
    { type: 'reasoning.encrypted', data: 'c2VjcmV0', format: 'anthropic-claude-v1', index: 1 },
  ],
  calls: [
    { id: 'tooluse_1', name: 'weather', arguments: '{"city":"Oslo"}' },
    { id: 'tooluse_2', name: 'now', arguments: '{}' },
  ],
  ends: ['stop'],
};

async function read(response: ChatResponse): Promise<Piece[]> {
  const pieces: Piece[] = [];
  const arrivals = response.arrivals({ idleTimeoutMs: 60_000, onRepetition: undefined });
  for await (const events of Symbol.asyncIterator in arrivals ? arrivals : [arrivals])
    for (const each of events) pieces.push(...response.read(each));
  return pieces;
}

const streaming =
  (events: readonly Buffer[]): Reply =>
  (response) =>
    void response.setHeader('content-type', 'application/vnd.amazon.eventstream').end(Buffer.concat(events));

const CALL = {
  requestId: 'r',
  accountId: 'a',
  model: 'm',
  body: [Buffer.from('{"messages":[{"role":"user","content":"Hi"}],"max_tokens":5}')],
};
const { signal } = new AbortController();
const MODEL = 'eu.anthropic.claude-opus-4-6-v1:0';

describe('a backend of the kind bedrock', () => {
  const fixture = new RouterFixture((catalog) => patientRouter(catalog, { secret: (name) => SECRETS[name] }));
  const settings = { kind: 'bedrock', model: MODEL, apiKeyEnv: 'SIGNING' };

  it('streams and responds as a whole, with cached tokens beside its input', async () => {
    const backend = await fixture.givenOne(streaming(EVENTS), settings);
    const streamed = await fixture.router.chat.stream(CALL, signal);
    expect(together(await read(streamed))).toEqual(ALL);
    expect(streamed.facts.reported).toEqual(COUNTS);
    backend.reply = replying(WHOLE);
    const whole = await fixture.router.chat.complete(CALL, signal);
    expect(together(await read(whole))).toEqual(ALL);
    expect(whole.facts.reported).toEqual(COUNTS);
    const path = '/v1/model/eu.anthropic.claude-opus-4-6-v1%3A0/converse';
    expect(backend.requests.map(({ url }) => url)).toEqual([`${path}-stream`, path]);
    expect(JSON.parse(backend.requests[0]?.body ?? '')).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { maxTokens: 5 },
    });
  });

  it('gets requests that its access key has signed, with the token of its session', async () => {
    const backend = await fixture.givenOne(replying(WHOLE), settings);
    await fixture.router.chat.complete(CALL, signal);
    const { url: path = '', headers = {}, body = '' }: Partial<BackendRequest> = backend.requests[0] ?? {};
    const signed = { method: 'POST', path, headers, body };
    expect(isSignedBy(SIGN_KEYS.secretAccessKey, signed)).toBe(true);
    expect(isSignedBy(SIGN_KEYS.secretAccessKey, { ...signed, body: `${body} ` })).toBe(false);
    expect(headers).toMatchObject({
      authorization: expect.stringMatching(/\/eu-central-1\/bedrock\/aws4_request,/) as string,
      'x-amz-security-token': 'of-a-session',
    });
  });

  it('gets a key without parts as a bearer token', async () => {
    const backend = await fixture.givenOne(replying(WHOLE), { ...settings, apiKeyEnv: 'PLAIN' });
    await fixture.router.chat.complete(CALL, signal);
    expect(backend.requests[0]?.headers).toMatchObject({ authorization: 'Bearer bedrock-api-key-1' });
  });

  it.each(['NOWHERE', 'BROKEN', 'UNSET'])(
    'is not called with a secret that cannot be used: %s',
    async (apiKeyEnv) => {
      const backend = await fixture.givenOne(replying(WHOLE), { ...settings, apiKeyEnv });
      await expect(fixture.router.chat.complete(CALL, signal)).rejects.toMatchObject({
        code: 'INFERENCE_FAILED',
      });
      expect(backend.requests).toEqual([]);
    },
  );

  it.each([
    [400, 'Input is too long for requested model.', 'TOO_MANY_TOKENS'],
    [400, 'The model returned the following errors: messages: roles must alternate', 'INVALID_REQUEST'],
    [400, 'The provided model identifier is invalid.', 'INFERENCE_FAILED'],
    [
      400,
      'Invocation of model ID x with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
      'INFERENCE_FAILED',
    ],
    [403, 'User: arn:aws:iam::123456789012:user/me is not authorized', 'INFERENCE_FAILED'],
    [424, 'The model failed.', 'INFERENCE_FAILED'],
    [429, 'Too many requests, please wait before trying again.', 'MODEL_AT_CAPACITY'],
    [500, 'The system encountered an unexpected error.', 'INFERENCE_FAILED'],
    [503, 'Bedrock is unable to process your request.', 'MODEL_AT_CAPACITY'],
  ])('refuses with status %d and "%s" as %s', async (status, message, code) => {
    await fixture.givenOne(replying({ message }, status), settings);
    await expect(fixture.router.chat.complete(CALL, signal)).rejects.toMatchObject({ code });
    await expect(fixture.router.chat.stream(CALL, signal)).rejects.toMatchObject({ code });
  });

  it.each([
    ['throttlingException', 'MODEL_AT_CAPACITY'],
    ['serviceUnavailableException', 'MODEL_AT_CAPACITY'],
    ['validationException', 'INVALID_REQUEST'],
    ['internalServerException', 'INFERENCE_FAILED'],
    ['anotherException', 'INFERENCE_FAILED'],
  ])('refuses with %s before the first piece as %s', async (type, code) => {
    await fixture.givenOne(streaming([...EVENTS.slice(0, 1), bedrockException(type, 'No.')]), settings);
    await expect(fixture.router.chat.stream(CALL, signal)).rejects.toMatchObject({ code });
  });

  it('is followed by another one if it is throttled', async () => {
    const backends = [
      await TestBackend.start(streaming([bedrockException('throttlingException', 'Slow down.')])),
      await TestBackend.start(streaming(EVENTS)),
    ];
    const entries = backends.map(({ url }, at) => ({ ...settings, url, weight: 1e-9 ** at }));
    await fixture.begin(new Catalog(catalogFile({ id: 'm', backends: entries })));
    const response = await fixture.router.chat.stream(CALL, signal);
    expect(together(await read(response))).toEqual(ALL);
    for (const backend of backends) await backend.close();
  });

  it('fails if an error comes after its first piece, or its bytes end within an event or before the last', async () => {
    const some = EVENTS.slice(0, 9);
    const backend = await fixture.givenOne(streaming(some), settings);
    const cut = Buffer.concat(EVENTS).subarray(0, -3);
    const broken = Buffer.concat(EVENTS);
    broken.writeUInt8(broken.readUInt8(broken.length - 1) ^ 1, broken.length - 1);
    for (const events of [
      some,
      [...some, bedrockException('modelStreamErrorException', 'No.')],
      [cut],
      [broken],
    ]) {
      backend.reply = streaming(events);
      const all = fixture.router.chat.stream(CALL, signal).then(read);
      await expect(all).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    }
  });

  describe('that says nothing', () => {
    const quick = new RouterFixture((catalog) => quickRouter(catalog, { secret: (name) => SECRETS[name] }));

    it('has a limited time to begin', async () => {
      await quick.givenOne((response) => response.writeHead(200).flushHeaders(), settings);
      await expect(quick.router.chat.stream(CALL, signal)).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    });
  });
});

import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { bedrockEvent } from '@svc/router/testing';
import { parseUsd } from '@svc/contracts/money';
import { TestServer, repeats } from '@svc/testing';
import fc from 'fast-check';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';

/*
 * Providers whose calls need a token or a signature, behind one server: an issuer of tokens, and each API at
 * a path of its own.
 */

/** Of tests that repeat. */
const LONG = { timeout: 3_600_000 };

const PRICING = { input: 3, cacheInput: 0.3, cacheWrite: 3.75, output: 15 };
const capabilities = { supportsFunctionCalling: true, supportsReasoning: true };
const BEDROCK = { kind: 'bedrock', model: 'eu.anthropic.claude-opus-4-6-v1:0', apiKeyEnv: 'AWS_KEYS' };
const TOOL = {
  name: 'weather',
  description: 'The weather',
  input_schema: { type: 'object', properties: {} },
};

interface Received {
  readonly path: string;
  readonly authorization: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const LIMITS = { standard: { requestsPerMinute: 500 } };

const token = 'token-of-the-test';
let usage: Record<string, number> = { inputTokens: 5, outputTokens: 2 };
let content: readonly Record<string, unknown>[] = [{ text: 'Hello.' }];
const received: Received[] = [];
const grants: URLSearchParams[] = [];
/** What Google responds to orders of images. */
let images: object = {};
/** The events of Google for a text to be spoken. */
let speech = '';
let server: TestServer;
let platform: Platform;
let account: TestAccount;

/** Vectors as Titan and Cohere respond at Bedrock. Each text has 3 tokens. */
function invoke({ inputText, texts }: Received['body'], response: ServerResponse): void {
  const inputs: readonly unknown[] = Array.isArray(texts) ? texts : [inputText];
  const vectors = inputs.map((input) => [String(input).length, 1]);
  if (!Array.isArray(texts)) {
    response.end(JSON.stringify({ embedding: vectors[0], inputTextTokenCount: 3 }));
    return;
  }
  response.setHeader('x-amzn-bedrock-input-token-count', 3 * inputs.length);
  response.end(JSON.stringify({ id: 'x', embeddings: { float: vectors }, texts }));
}

function converse(path: string, response: ServerResponse): void {
  if (!path.endsWith('-stream')) {
    const output = { message: { role: 'assistant', content } };
    response.end(JSON.stringify({ output, stopReason: 'end_turn', usage }));
    return;
  }
  response.setHeader('content-type', 'application/vnd.amazon.eventstream');
  response.write(bedrockEvent('messageStart', { role: 'assistant' }));
  for (const [contentBlockIndex, block] of content.entries())
    response.write(bedrockEvent('contentBlockDelta', { contentBlockIndex, delta: block }));
  response.write(bedrockEvent('messageStop', { stopReason: 'end_turn' }));
  response.end(bedrockEvent('metadata', { usage, metrics: { latencyMs: 3 } }));
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url: path = '', headers } = request;
  response.setHeader('content-type', 'application/json');
  if (path.endsWith('/token')) {
    grants.push(new URLSearchParams(await text(request)));
    const granted = { access_token: token, expires_in: 3_600, token_type: 'Bearer' };
    if (path.startsWith('/refusing')) response.writeHead(400).end('{"error":"invalid_grant"}');
    else response.end(JSON.stringify(granted));
    return;
  }
  if (request.method === 'GET') {
    response.writeHead(404).end('{}');
    return;
  }
  const body = (await json(request)) as Received['body'];
  received.push({ path, authorization: headers.authorization ?? '', body });
  if (path.includes('/model/')) {
    if (path.endsWith('/invoke')) invoke(body, response);
    else converse(path, response);
    return;
  }
  if (headers.authorization !== `Bearer ${token}`) {
    response.writeHead(401).end('{"error":{"message":"No."}}');
    return;
  }
  const { generationConfig: config } = body as { generationConfig?: { responseModalities?: unknown } };
  if (path.endsWith(':streamGenerateContent?alt=sse')) {
    response.setHeader('content-type', 'text/event-stream').end(speech);
    return;
  }
  if (path.endsWith(':predict') || config?.responseModalities !== undefined) {
    response.end(JSON.stringify(images));
    return;
  }
  const parts = [{ text: 'Hello.' }];
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2 };
  const candidates = [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }];
  const message = { role: 'assistant', content: 'Hello.' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  response.end(
    JSON.stringify(
      path.includes(':generateContent')
        ? { candidates, usageMetadata }
        : { choices, usage: { prompt_tokens: 5, completion_tokens: 2 } },
    ),
  );
}

beforeAll(async () => {
  server = await TestServer.start((request, response) => void respond(request, response));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const serviceAccount = {
    type: 'service_account',
    client_email: 'svc@shop.test',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
  const accountAt = (path: string): string =>
    JSON.stringify({ ...serviceAccount, token_uri: `${server.url}${path}/token` });
  const client = { tenant_id: 't', client_id: 'c', client_secret: 'of-the-client', authority: server.url };
  const vertex = {
    kind: 'vertex',
    url: `${server.url}/v1/projects/my-shop/locations/europe-west1/publishers/google`,
    model: 'gemini-3-pro',
  };
  const modelOf = (id: string, ...backends: readonly object[]) => ({
    id,
    pricing: PRICING,
    capabilities,
    backends,
  });
  const offer = (id: string, type: string) => ({ id, name: id, type, tier: 'XS' });
  const vectorsOf = (id: string, model: string) => ({
    ...offer(id, 'embedding'),
    embeddingDimensions: 2,
    pricing: { input: 100 },
    backends: [{ ...BEDROCK, url: server.url, model }],
  });
  const painter = (id: string, model: string, constraints: object) => ({
    ...offer(id, 'image'),
    constraints: { aspectRatios: ['1:1', '16:9'], ...constraints },
    pricing: { generation: 0.04 },
    backends: [{ ...vertex, model, apiKeyEnv: 'GOOGLE_KEY' }],
  });
  const speaker = {
    ...offer('speaker', 'tts'),
    voices: ['Kore'],
    defaultVoice: 'Kore',
    formats: ['pcm'],
    defaultFormat: 'pcm',
    pricing: { input: 100 },
    backends: [{ ...vertex, model: 'gemini-3.1-flash-tts', apiKeyEnv: 'GOOGLE_KEY' }],
  };
  platform = await Platform.start({
    otherLimits: { image: LIMITS, audio: LIMITS },
    hasOwnProcess: true,
    env: {
      AWS_KEYS: JSON.stringify({
        accessKeyId: 'AKIDTEST',
        secretAccessKey: 'aws-secret-1',
        region: 'eu-west-1',
      }),
      GOOGLE_KEY: accountAt(''),
      REFUSED_KEY: accountAt('/refusing'),
      AZURE_KEY: JSON.stringify(client),
    },
    models: [
      modelOf('on-bedrock', { ...BEDROCK, url: server.url }),
      modelOf('on-vertex', { ...vertex, apiKeyEnv: 'GOOGLE_KEY' }),
      modelOf('on-azure', {
        kind: 'azure',
        url: `${server.url}/openai/v1`,
        model: 'gpt',
        apiKeyEnv: 'AZURE_KEY',
      }),
      modelOf(
        'on-two',
        { ...vertex, apiKeyEnv: 'REFUSED_KEY', weight: 1_000_000 },
        { ...BEDROCK, url: server.url, weight: 0.000_001 },
      ),
      modelOf('on-none', { ...vertex, apiKeyEnv: 'REFUSED_KEY' }),
      painter('imagen', 'imagen-4.0-generate-001', { maxImages: 4 }),
      painter('banana', 'gemini-3-pro-image', { maxImages: 1 }),
      speaker,
      vectorsOf('titan', 'amazon.titan-embed-text-v2:0'),
      vectorsOf('cohere', 'cohere.embed-v4:0'),
    ],
  });
  account = await platform.account('1000.00');
});

beforeEach(() => {
  received.length = 0;
  content = [{ text: 'Hello.' }];
  usage = { inputTokens: 5, outputTokens: 2 };
});

afterAll(async () => {
  await platform?.stop();
  await server?.close();
});

/** Texts of three tokens each. */
const INPUTS = ['one two three', 'four five six'];

const HI = [{ role: 'user', content: 'Hi' }];

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${platform.apiUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function ask(path: string, body: object): Promise<[number, Record<string, unknown>]> {
  const response = await post(path, body);
  return [response.status, (await response.json()) as Record<string, unknown>];
}

const chat = (model: string) => ask('/chat/completions', { model, messages: HI });
const HELLO = [200, { choices: [{ message: { content: 'Hello.' } }] }];

describe('a hosted model', () => {
  it('on Bedrock is called with a signature', async () => {
    expect(await chat('on-bedrock')).toMatchObject(HELLO);
    expect(received).toMatchObject([
      {
        path: '/model/eu.anthropic.claude-opus-4-6-v1%3A0/converse',
        authorization: expect.stringMatching(
          /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d{8}\/eu-west-1\/bedrock\/aws4_request, /,
        ) as string,
      },
    ]);
  });

  it('on Vertex AI and on Azure is called with a token, which is asked for once', async () => {
    for (const model of ['on-vertex', 'on-azure', 'on-vertex', 'on-azure'])
      expect(await chat(model)).toMatchObject(HELLO);
    expect(grants.map((form) => form.get('grant_type'))).toEqual([
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
      'client_credentials',
    ]);
  });

  it('without a token is called elsewhere, and if there is nowhere else, nothing is charged', async () => {
    expect(await chat('on-two')).toMatchObject(HELLO);
    expect(received.map(({ path }) => path)).toEqual(['/model/eu.anthropic.claude-opus-4-6-v1%3A0/converse']);
    const before = await platform.balances(account.id);
    const [status, body] = await chat('on-none');
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toMatch(/token|my-shop|europe-west1|invalid_grant/);
    expect(await platform.balances(account.id)).toEqual(before);
    await expect.poll(() => platform.service.output).toContain('a backend gets no token');
    expect(platform.service.output).not.toMatch(/PRIVATE KEY|aws-secret-1|of-the-client|token-of-the-test/);
  });

  it.each<[string, object[]]>([
    ['titan', INPUTS.map((inputText) => ({ inputText }))],
    ['cohere', [{ input_type: 'search_document', texts: INPUTS }]],
  ])('on Bedrock makes embeddings, and costs the tokens that it counts: %s', async (model, bodies) => {
    const before = parseUsd((await platform.balances(account.id)).usd) ?? 0n;
    expect(await ask('/embeddings', { model, input: INPUTS })).toMatchObject([
      200,
      { data: INPUTS.map(({ length }) => ({ embedding: [length, 1] })), usage: { prompt_tokens: 6 } },
    ]);
    const after = parseUsd((await platform.balances(account.id)).usd) ?? 0n;
    expect(before - after).toBe(600_000n);
    expect(received.map(({ body }) => body)).toEqual(expect.arrayContaining(bodies));
    expect(received).toHaveLength(bodies.length);
    for (const { path, authorization } of received) {
      expect(path).toMatch(/^\/model\/[\w.-]+%3A0\/invoke$/);
      expect(authorization).toMatch(/^AWS4-HMAC-SHA256 /);
    }
  });

  it('on Vertex AI makes images, each at its price', async () => {
    const red = sharp({ create: { width: 1_408, height: 768, channels: 3, background: 'red' } });
    const data = (await red.png().toBuffer()).toString('base64');
    const parts = [{ inlineData: { mimeType: 'image/png', data } }];
    const order = { prompt: 'a lighthouse', size: '1792x1024', n: 2 };
    const before = parseUsd((await platform.balances(account.id)).usd) ?? 0n;
    images = { predictions: [{ bytesBase64Encoded: data }, { bytesBase64Encoded: data }] };
    const [status, made] = await ask('/images/generations', { ...order, model: 'imagen' });
    expect([status, (made['data'] as object[]).length]).toEqual([200, 2]);
    images = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
    const one = await ask('/images/generations', { ...order, model: 'banana', n: 1 });
    expect(one).toMatchObject([200, { data: [{ b64_json: expect.any(String) as string }] }]);
    const after = parseUsd((await platform.balances(account.id)).usd) ?? 0n;
    expect(before - after).toBe(120_000_000n);
    expect(received).toMatchObject([
      { body: { parameters: { sampleCount: 2, aspectRatio: '16:9' } } },
      { body: { generationConfig: { imageConfig: { aspectRatio: '16:9' } } } },
    ]);
  });

  it('on Vertex AI makes no image that a filter keeps back, nor one as it has none, for nothing', async () => {
    const before = await platform.balances(account.id);
    images = { predictions: [{ raiFilteredReason: 'No.' }] };
    expect((await ask('/image/generate', { model: 'imagen', prompt: 'a' }))[0]).toBe(422);
    expect(
      await ask('/image/generate', { model: 'banana', prompt: 'a', negative_prompt: 'fog' }),
    ).toMatchObject([400, { error: { message: expect.stringMatching(/no negative prompts/) as string } }]);
    expect(await platform.balances(account.id)).toEqual(before);
    expect(received).toHaveLength(1);
  });

  it.each([false, true])(
    'on Vertex AI speaks, streamed %s, and only whole speech is paid for',
    async (streaming) => {
      const samples = Buffer.from('00010002fffe80007fff', 'hex');
      const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data: samples.toString('base64') };
      const part = { candidates: [{ content: { parts: [{ inlineData }] } }] };
      const text = { model: 'speaker', input: 'Hello.', streaming };
      const event = (body: object) => `data: ${JSON.stringify(body)}\r\n\r\n`;
      const before = parseUsd((await platform.balances(account.id)).usd) ?? 0n;
      speech = event(part) + event(part) + event({ candidates: [{ finishReason: 'STOP' }] });
      const spoken = await post('/audio/speech', text);
      expect([spoken.status, spoken.headers.get('content-type')]).toEqual([200, 'audio/pcm']);
      expect(Buffer.from(await spoken.arrayBuffer())).toEqual(Buffer.concat([samples, samples]));
      speech = event({ candidates: [{ finishReason: 'OTHER' }] });
      expect((await post('/audio/speech', text)).status).toBe(500);
      await expect
        .poll(async () => before - (parseUsd((await platform.balances(account.id)).usd) ?? 0n))
        .toBe(600_000n);
    },
  );

  it('on Bedrock gets signed reasoning back from a client of messages', async () => {
    const thought = { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'EqoB==' } } };
    const call = { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Oslo' } } };
    content = [thought, { text: 'I look.' }, call];
    const messages = [{ role: 'user', content: 'The weather in Oslo?' }];
    const request = { model: 'on-bedrock', tools: [TOOL], max_tokens: 500, thinking: { type: 'adaptive' } };
    const [, message] = await ask('/messages', { ...request, messages });
    const result = { type: 'tool_result', tool_use_id: 'tooluse_1', content: 'sunny' };
    content = [{ text: 'Sunny.' }];
    await ask('/messages', {
      ...request,
      messages: [
        ...messages,
        { role: 'assistant', content: message['content'] },
        { role: 'user', content: [result] },
      ],
    });
    expect(received.at(-1)?.body['messages']).toEqual([
      { role: 'user', content: [{ text: 'The weather in Oslo?' }] },
      { role: 'assistant', content: [thought, { text: 'I look.' }, call] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'tooluse_1', content: [{ text: 'sunny' }] } }] },
    ]);
  });

  it('on Bedrock costs what its usage says, with cached tokens beside its input', LONG, async () => {
    const property = fc.asyncProperty(
      fc.record({
        input: fc.integer({ min: 1, max: 2_000 }),
        read: fc.nat(2_000),
        write: fc.nat(2_000),
        output: fc.integer({ min: 1, max: 150 }),
      }),
      fc.boolean(),
      async ({ input, read, write, output }, stream) => {
        usage = {
          inputTokens: input,
          outputTokens: output,
          totalTokens: input + read + write + output,
          cacheReadInputTokens: read,
          cacheWriteInputTokens: write,
        };
        const before = parseUsd((await platform.balances(account.id)).usd) ?? 0n;
        const messages = [{ role: 'user', content: 'word '.repeat(input + read + write + 10) }];
        await (
          await platform.chat(account.apiKey, { model: 'on-bedrock', messages, stream, max_tokens: 2_000 })
        ).text();
        const after = parseUsd((await platform.balances(account.id)).usd) ?? 0n;
        const expected =
          BigInt(input) * 3_000n + BigInt(read) * 300n + BigInt(write) * 3_750n + BigInt(output) * 15_000n;
        expect(before - after).toBe(expected);
      },
    );
    await fc.assert(property, { numRuns: repeats('HOSTED_USAGES') });
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { offerLocalModels, readCatalog } from '@svc/catalog';
import { freePort } from '@svc/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedProgram, openPython } from '../clients/environments.js';
import { Platform, type TestAccount } from '../platform.js';
import { WEATHER } from '../tools.js';
import { type Completion, bothWays, comparable, gathered } from './same-response.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const START_MS = 300_000;

const OF_SERVER = join(HERE, '../backends');
const python = await openPython({
  requirements: join(OF_SERVER, 'requirements.txt'),
  env: { CMAKE_ARGS: '-DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF' },
});

/** No system message but the first, and no other roles than these. */
const TEMPLATE = `{%- for message in messages -%}
{%- if message.role == 'system' and not loop.first -%}
{{- raise_exception('System message must be at the beginning.') -}}
{%- elif message.role not in ['system', 'user', 'assistant', 'tool'] -%}
{{- raise_exception('Unexpected message role.') -}}
{%- endif -%}
{{ message.role }}: {{ message.content }}
{% endfor -%}
assistant:`;

const SCHEMA = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] };
const user = (content: unknown): object => ({ role: 'user', content });
const HELLO = [user('hello world')];
const CALL = { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } };

/**
 * The server reports no usage in streams, and in whole responses also tokens that are no text, which this
 * model has many of: its counts are not believed then.
 */
const withoutUsage = (response: object): object => ({ ...response, usage: undefined });

/** Requests whose responses must be the same through the platform, whole and streamed. */
const PAIRS: readonly (readonly [name: string, body: object])[] = [
  ['a text', {}],
  ['a system message', { messages: [{ role: 'system', content: 'Be brief.' }, ...HELLO] }],
  [
    'a conversation with a tool',
    {
      messages: [
        ...HELLO,
        { role: 'assistant', content: 'A moment.', tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'c1', content: 'Sunny' },
      ],
      tools: [WEATHER],
    },
  ],
  ['text in any script', { messages: [user('ſüß € 漢字 🦘')] }],
  ['a stop word', { stop: ['e'] }],
  ['one token', { max_tokens: 1 }],
  ['sampling', { temperature: 0.8, top_p: 0.9, top_k: 20, min_p: 0.01, repeat_penalty: 1.1 }],
  ['penalties', { frequency_penalty: 1, presence_penalty: 1, logit_bias: { 65: 5 } }],
  ['an object', { response_format: { type: 'json_object', schema: SCHEMA }, max_tokens: 40 }],
];

/** Conversations that the server refuses as they are, and understands from the platform. */
const MENDED: readonly (readonly [name: string, messages: readonly object[]])[] = [
  ['a developer message', [{ role: 'developer', content: 'Be brief.' }, ...HELLO]],
  ['a late system message', [...HELLO, { role: 'system', content: 'Be brief.' }, ...HELLO]],
  [
    'no content beside calls',
    [
      ...HELLO,
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'c1', content: 'Sunny' },
    ],
  ],
];

describe.skipIf(!python)('llama-cpp-python', { timeout: START_MS }, () => {
  let folder: string;
  let url: string;
  let server: StartedProgram;
  let platform: Platform;
  let account: TestAccount;

  beforeAll(async () => {
    if (!python) throw new Error('no Python');
    folder = await mkdtemp(join(tmpdir(), 'svc-llama-cpp-'));
    const model = join(folder, 'tiny.gguf');
    const written = await python.run('python', [join(OF_SERVER, 'tiny_gguf.py'), model, TEMPLATE], {
      deadlineMs: START_MS,
    });
    if (written.code !== 0) throw new Error(`no model: ${written.stderr}`);
    const port = await freePort();
    // By default a stream ends when the next request comes.
    const options = `-m llama_cpp.server --interrupt_requests false --host 127.0.0.1 --port ${port} --n_ctx 2048 --n_threads 1 --model ${model}`;
    const ready = /Application startup complete/;
    server = await python.start('python', options.split(' '), { ready, deadlineMs: START_MS });
    url = `http://127.0.0.1:${port}/v1`;
    const limits = { contextTokens: 2_048, maxCompletionTokens: 2_048 };
    const capabilities = { supportsFunctionCalling: true, supportsResponseSchema: true };
    const backends = [{ url, kind: 'llama-cpp-python', model: 'tiny' }];
    platform = await Platform.start({
      models: [{ id: 'chat', pricing: { input: 1, output: 1 }, capabilities, ...limits, backends }],
    });
    account = await platform.account('10.00');
  }, START_MS);

  afterAll(async () => {
    await platform?.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const { direct, through } = bothWays(
    () => url,
    (body) => platform.chat(account.apiKey, body),
  );

  it('is found on this machine with its kind', async () => {
    const path = join(folder, 'local-models.yaml');
    const catalogPath = platform.env['SVC_CATALOG'] ?? '';
    await offerLocalModels(path, await readCatalog(catalogPath), {
      servers: [{ name: 'llama.cpp', url }],
      secret: () => undefined,
    });
    const { models } = await readCatalog(catalogPath, path);
    expect(models.find(({ id }) => id === 'tiny.gguf')).toMatchObject({
      backends: [{ kind: 'llama-cpp-python' }],
    });
  });

  it.each(PAIRS)('responds through the platform as it does directly: %s', async (_name, body) => {
    const theirs = (await (await direct(body)).json()) as Completion;
    const response = await through(body);
    expect(response.status).toBe(200);
    expect(withoutUsage(comparable((await response.json()) as Completion))).toEqual(
      withoutUsage(comparable(theirs)),
    );
  });

  it.each(PAIRS)('streams through the platform as it does directly: %s', async (_name, body) => {
    const theirs = await gathered(await direct({ ...body, stream: true }));
    const response = await through({ ...body, stream: true });
    expect(response.status).toBe(200);
    expect(withoutUsage(await gathered(response))).toEqual(withoutUsage(theirs));
  });

  it.each(MENDED)('understands from the platform what it refuses directly: %s', async (_name, messages) => {
    const theirs = await direct({ messages });
    expect(theirs.ok).toBe(false);
    await theirs.body?.cancel();
    const ours = await through({ messages });
    expect([ours.status, await ours.text()]).toEqual([200, expect.stringContaining('"cost"')]);
  });

  it('is refused through the platform, free of charge, if the prompt is too long', async () => {
    const messages = [user('word '.repeat(3_000))];
    expect((await direct({ messages })).status).toBe(400);
    const ours = await through({ messages });
    expect([ours.status, await ours.json()]).toMatchObject([400, { error: { param: 'messages' } }]);
  });

  it('leaves correct books', async () => {
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { offerLocalModels, readCatalog } from '@svc/catalog';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chunksOf, errorOf, eventually } from '../response-bodies.js';
import { type StartedProgram, openPython } from '../clients/environments.js';
import { Platform, type TestAccount } from '../platform.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Context size of the model. */
const CONTEXT_TOKENS = 2_048;
/**
 * Makes the model generate whole words. The server notices a disconnected client only when it sends text,
 * and most tokens are parts of characters.
 */
const WORD = 261;

const START_MS = 60_000;

/** Leaves image support out of the compilation, since this tiny model has none. */
const python = await openPython({
  requirements: join(HERE, 'requirements.txt'),
  env: { CMAKE_ARGS: '-DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF' },
});

interface Whole {
  readonly choices: readonly {
    readonly finish_reason: string;
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly {
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
    };
    readonly logprobs: { readonly content: readonly { readonly logprob: number }[] } | null;
  }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly cost: { readonly usd: number };
}

const SCHEMA = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] };

describe.skipIf(!python)('the server of llama-cpp-python', () => {
  let folder: string;
  let modelPath: string;
  let server: StartedProgram;
  let url: string;
  let platform: Platform;
  let account: TestAccount;
  /** The total that the account was charged for complete responses and finished streams. */
  let chargedUsd = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-backends-'));
    modelPath = join(folder, 'tiny.gguf');
    const written = await python?.run('python', ['tiny_gguf.py', modelPath], {
      cwd: HERE,
      deadlineMs: START_MS,
    });
    if (!python || written?.code !== 0) throw new Error(`no model: ${written?.stderr}`);
    const args = [
      '-m',
      'llama_cpp.server',
      '--model',
      modelPath,
      '--port',
      '0',
      '--n_ctx',
      `${CONTEXT_TOKENS}`,
      // Several threads would wait for each other in a busy loop, which takes minutes on a busy machine.
      '--n_threads',
      '1',
    ];
    const ready = /running on (http:\S+)/;
    server = await python.start('python', [...args, '--logits_all', 'true'], { ready, deadlineMs: START_MS });
    url = `${server.match[1]}/v1`;
    const pricing = { input: 1, output: 1 };
    const backends = [{ url, model: modelPath }];
    const tiny = { pricing, backends, contextTokens: CONTEXT_TOKENS, maxCompletionTokens: CONTEXT_TOKENS };
    platform = await Platform.start({
      models: [{ id: 'tiny', ...tiny }],
    });
    account = await platform.account('10.00');
  }, 2 * START_MS);

  afterAll(async () => {
    await platform?.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const request = (rest: object = {}): object => ({
    model: 'tiny',
    messages: [{ role: 'user', content: 'hello world' }],
    max_tokens: 64,
    seed: 1,
    ...rest,
  });

  async function whole(rest: object = {}): Promise<Whole> {
    const response = await platform.chat(account.apiKey, request(rest));
    const body = (await response.json()) as Whole;
    expect(response.status).toBe(200);
    chargedUsd += body.cost.usd;
    return body;
  }

  /** The charge of a request, in USD, once it is posted. */
  async function chargeOf(requestId: string): Promise<number | undefined> {
    const { body } = await platform.operator('GET', `/accounts/${account.id}/transfers?limit=100`);
    const transfers = body['data'] as { kind: string; amount: string; reference: string }[];
    const charge = transfers.find(({ kind, reference }) => kind === 'charge' && reference === requestId);
    return charge && Number(charge.amount);
  }

  it('is found, and its model is offered under the base name of its path', async () => {
    const catalogPath = platform.env['SVC_CATALOG'] ?? '';
    const path = join(folder, 'local-models.yaml');
    const catalog = await readCatalog(catalogPath);
    const found = await offerLocalModels(path, catalog, {
      servers: [{ name: 'llama-cpp-python', url }],
      secret: () => undefined,
    });
    expect(found).toEqual([{ name: 'llama-cpp-python', url, models: ['tiny.gguf'], skipped: [] }]);
    expect((await readCatalog(catalogPath, path)).models.at(-1)).toMatchObject({
      id: 'tiny.gguf',
      aliases: [],
      contextTokens: 4_096,
      backends: [{ url, model: modelPath }],
    });
  });

  it('completes, with its token counts, which are charged', async () => {
    const { choices, usage, cost } = await whole();
    expect(typeof choices[0]?.message.content).toBe('string');
    expect(usage.prompt_tokens).toBeGreaterThan(5);
    expect(usage.completion_tokens).toBeGreaterThan(0);
    expect(cost.usd).toBeCloseTo((usage.prompt_tokens + usage.completion_tokens) / 1e6, 9);
  });

  it('streams to the end, with the usage that the gateway counts', async () => {
    const stream = request({ stream: true, stream_options: { include_usage: true } });
    const { chunks, text, done } = await chunksOf(await platform.chat(account.apiKey, stream));
    expect(done).toBe(true);
    expect(text.length).toBeGreaterThan(0);
    const { usage, cost } = chunks.at(-1) ?? {};
    expect(usage?.completion_tokens).toBeGreaterThan(0);
    chargedUsd += cost?.usd ?? Number.NaN;
  });

  it('is free for the next request when a client leaves a stream, whose delivered part is charged', async () => {
    const abort = new AbortController();
    const stream = request({ stream: true, max_tokens: 2_000, logit_bias: { [WORD]: 100 } });
    const response = await platform.chat(account.apiKey, stream, { signal: abort.signal });
    await response.body?.getReader().read();
    abort.abort();
    await whole({ max_tokens: 4 });
    const id = response.headers.get('x-request-id') ?? '';
    let cost: number | undefined;
    await eventually('the delivered part is charged', async () => (cost = await chargeOf(id)) !== undefined);
    // The full completion would be 2,000 output tokens.
    expect(cost).toBeLessThan(0.002);
    chargedUsd += cost ?? Number.NaN;
  });

  it('calls the required tool', async () => {
    const tools = [{ type: 'function', function: { name: 'decide', parameters: SCHEMA } }];
    const { choices } = await whole({
      tools,
      tool_choice: { type: 'function', function: { name: 'decide' } },
    });
    const [call] = choices[0]?.message.tool_calls ?? [];
    expect(call?.function.name).toBe('decide');
    expect(JSON.parse(call?.function.arguments ?? '')).toEqual({ yes: expect.any(Boolean) as boolean });
  });

  it('follows a schema next to json_object', async () => {
    const { choices } = await whole({ response_format: { type: 'json_object', schema: SCHEMA } });
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ yes: expect.any(Boolean) as boolean });
  });

  it('returns log probabilities', async () => {
    const { choices } = await whole({ max_tokens: 4, logprobs: true, top_logprobs: 2 });
    const logprobs = choices[0]?.logprobs?.content ?? [];
    expect(logprobs.length).toBeGreaterThan(0);
    for (const { logprob } of logprobs) expect(logprob).toBeLessThanOrEqual(0);
  });

  // Not tested with a stream: the server starts it with 200 and then closes it without an event.
  it('refuses a request beyond its context as an overflow, free of charge', async () => {
    const messages = [{ role: 'user', content: '?! '.repeat(5_000) }];
    const response = await platform.chat(account.apiKey, request({ messages }));
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({
      code: 'TOO_MANY_TOKENS',
      error: { code: 'context_length_exceeded', param: 'messages' },
    });
  });

  it('leaves correct books, with exactly the charges of its requests', async () => {
    await eventually('all charges are posted', async () => {
      const usd = Number((await platform.balances(account.id)).usd);
      return Math.abs(10 - chargedUsd - usd) < 1e-9;
    });
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });
});

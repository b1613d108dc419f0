import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { offerLocalModels, readCatalog } from '@svc/catalog';
import { type Simulator, startSimulator } from '@svc/simulator';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chunksOf, errorOf, eventually } from '../response-bodies.js';
import { type StartedProgram, openPython } from '../clients/environments.js';
import { Platform, type TestAccount } from '../platform.js';

const KEY = 'sk-key-of-the-proxy-in-tests';
const START_MS = 120_000;
const SCHEMA = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] };

const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));
const python = await openPython({ requirements, env: {} });

interface Whole {
  readonly choices: readonly {
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
    };
  }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly cost: { readonly usd: number };
}

describe.skipIf(!python)("LiteLLM's proxy as a backend", () => {
  let folder: string;
  let simulator: Simulator;
  let proxy: StartedProgram;
  let url: string;
  let platform: Platform;
  let account: TestAccount;
  let chargedUsd = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-proxies-'));
    simulator = await startSimulator({ port: 0 });
    const config = join(folder, 'config.yaml');
    const behind = { model: 'openai/test-model', api_base: `${simulator.url}/v1`, api_key: 'none' };
    await writeFile(
      config,
      stringify({
        model_list: [{ model_name: 'tiny', litellm_params: behind }],
        general_settings: { master_key: KEY },
        litellm_settings: { num_retries: 0 },
      }),
    );
    if (!python) throw new Error('no Python');
    const args = ['--config', config, '--host', '127.0.0.1', '--port', '0'];
    proxy = await python.start('litellm', args, { ready: /running on (http:\S+)/, deadlineMs: START_MS });
    url = `${proxy.match[1]}/v1`;
    const pricing = { input: 1, output: 1 };
    const model = (id: string, backend: object): object => ({ id, pricing, backends: [{ url, ...backend }] });
    platform = await Platform.start({
      models: [
        model('proxied', { model: 'tiny', apiKeyEnv: 'PROXY_KEY' }),
        model('wrong-key', { model: 'tiny', apiKeyEnv: 'WRONG_KEY' }),
        model('wrong-model', { model: 'nobody', apiKeyEnv: 'PROXY_KEY' }),
      ],
      env: { PROXY_KEY: KEY, WRONG_KEY: 'sk-wrong' },
    });
    account = await platform.account('10.00');
  }, 2 * START_MS);

  afterAll(async () => {
    await platform?.stop();
    await proxy?.stop();
    await simulator?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const request = (rest: object = {}): object => ({
    model: 'proxied',
    messages: [{ role: 'user', content: 'hello world' }],
    max_tokens: 16,
    ...rest,
  });

  async function whole(rest: object = {}): Promise<Whole> {
    const response = await platform.chat(account.apiKey, request(rest));
    const body = (await response.json()) as Whole;
    expect([response.status, body]).toMatchObject([200, {}]);
    chargedUsd += body.cost.usd;
    return body;
  }

  it('is found with its key, and its models are offered', async () => {
    const catalog = await readCatalog(platform.env['SVC_CATALOG'] ?? '');
    const servers = [{ name: 'LiteLLM', url }];
    const options = { servers, secret: (name: string) => (name === 'PROXY_KEY' ? KEY : undefined) };
    const found = await offerLocalModels(join(folder, 'local-models.yaml'), catalog, options);
    expect(found).toMatchObject([{ name: 'LiteLLM', url, models: ['tiny'] }]);
  });

  it('completes, with its token counts, which are charged', async () => {
    const { choices, usage, cost } = await whole();
    expect(choices[0]?.message.content?.length).toBeGreaterThan(0);
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

  it('calls the required tool', async () => {
    const tools = [{ type: 'function', function: { name: 'decide', parameters: SCHEMA } }];
    const { choices } = await whole({
      tools,
      tool_choice: { type: 'function', function: { name: 'decide' } },
    });
    expect(choices[0]?.message.tool_calls?.[0]?.function.name).toBe('decide');
  });

  it('follows a schema', async () => {
    const format = { type: 'json_schema', json_schema: { name: 'decision', schema: SCHEMA } };
    const { choices } = await whole({ response_format: format, max_tokens: 64 });
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ yes: expect.any(Boolean) as boolean });
  });

  it('passes on refusals of the server behind it, free of charge', async () => {
    const response = await platform.chat(account.apiKey, request({ sim: { faults: ['400'] } }));
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect((await errorOf(response)).error.message).not.toContain('127.0.0.1');
  });

  it.each(['wrong-key', 'wrong-model'])(
    "reports a %s in the catalogue as the operator's fault, not the client's",
    async (model) => {
      const response = await platform.chat(account.apiKey, request({ model }));
      expect(response.status).toBeGreaterThanOrEqual(500);
    },
  );

  it('cancels the call to the server behind it when a client leaves, and charges the delivered part', async () => {
    const abort = new AbortController();
    const content = 'Hello [[sim itl-ms=50 tokens=2000]]';
    const stream = request({ stream: true, max_tokens: 2_000, messages: [{ role: 'user', content }] });
    const response = await platform.chat(account.apiKey, stream, { signal: abort.signal });
    await response.body?.getReader().read();
    abort.abort();
    await eventually(
      'the call to the server behind it is cancelled',
      () => simulator.cancellations().length > 0,
    );
    const id = response.headers.get('x-request-id') ?? '';
    let usd: number | undefined;
    await eventually('the delivered part is charged', async () => {
      const { status, body } = await platform.operator('GET', `/charges/${id}`);
      if (status === 200) usd = Number((body['cost'] as { usd: string }).usd);
      return usd !== undefined;
    });
    expect(usd).toBeLessThan(0.002);
    chargedUsd += usd ?? Number.NaN;
  });

  it('leaves correct books, with exactly the charges of its requests', async () => {
    await eventually('all charges are posted', async () => {
      const usd = Number((await platform.balances(account.id)).usd);
      return Math.abs(10 - chargedUsd - usd) < 1e-9;
    });
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });
});

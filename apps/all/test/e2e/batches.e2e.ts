import { CLIENT_KEY } from '@svc/api/tee';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BatchClient, type BatchEndpoint, chatLine, linesText } from '../batch-client.js';
import { errorOf } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';

let backend: Simulator;
let platform: Platform;
let account: TestAccount;
let client: BatchClient;

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  platform = await Platform.start({
    models: [
      { id: 'cheap', serviceTiers: { batch: { priceFactor: 0.5 } } },
      {
        id: 'vectors',
        name: 'vectors',
        type: 'embedding',
        tier: 'XS',
        embeddingDimensions: 8,
        pricing: { input: 1 },
        backends: [{ url: `${backend.url}/v1`, model: 'embed;dimensions=8' }],
      },
      ...(['rerank', 'moderation'] as const).map((type) => ({
        id: type,
        name: type,
        type,
        tier: 'XS',
        pricing: { input: 100 },
        backends: [{ url: `${backend.url}/v1`, model: type }],
      })),
    ],
  });
  account = await platform.account('10.00');
  client = new BatchClient(platform, account.apiKey);
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});

const CHAT_BATCH = { endpoint: '/v1/chat/completions', completion_window: '24h' };
const MESSAGE = { model: 'cheap', max_tokens: 8, messages: [{ role: 'user', content: 'hi' }] };

const chat = (id: string, body: object = {}): object => chatLine(id, { model: 'cheap', ...body });

describe('a batch', () => {
  it('sends its lines, and has their responses in a file', async () => {
    const before = await platform.balances(account.id);
    const batch = await client.begin(linesText(chat('a'), chat('b'), chat('c', { service_tier: 'auto' })));
    expect(batch).toMatchObject({ object: 'batch', endpoint: '/v1/chat/completions', output_file_id: null });
    const end = await client.ended(batch);
    expect(end).toMatchObject({
      status: 'completed',
      request_counts: { total: 3, completed: 3, failed: 0 },
      error_file_id: null,
    });
    const results = await client.resultsIn(end.output_file_id);
    expect(results.map(({ custom_id: id }) => id)).toEqual(['a', 'b', 'c']);
    const bodies = results.map(({ response }) => response?.body ?? {});
    expect(bodies).toEqual([
      expect.objectContaining({ object: 'chat.completion', model: 'cheap' }),
      expect.objectContaining({ object: 'chat.completion' }),
      expect.objectContaining({ service_tier: 'batch' }),
    ]);
    const costs = bodies.map(({ cost }) => (cost as { usd: number }).usd);
    const paidUsd = costs.reduce((sum, usd) => sum + usd, 0);
    const after = await platform.balances(account.id);
    expect(Number(before.usd) - Number(after.usd)).toBeCloseTo(paidUsd, 9);
    expect(paidUsd).toBeGreaterThan(0);
  });

  it('takes any text as a name of a line, and refuses what cannot be stored or read', async () => {
    const names = ['__proto__', '../../x', '"\n\u2028', '😀'.repeat(128), ' ', 'null'];
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const text = linesText(
      ...names.map((name) => chat(name)),
      chat('\0'),
      chat('\ud800'),
      chat('x'.repeat(257)),
      `{"custom_id":"deep","method":"POST","url":"/v1/chat/completions","body":{"a":${deep}}}`,
      { ...chat('number'), custom_id: 1 },
    );
    const end = await client.ended(await client.begin(text));
    const done = await client.resultsIn(end.output_file_id);
    expect(done.map(({ custom_id: name }) => name)).toEqual(names);
    const failed = await client.resultsIn(end.error_file_id);
    expect(failed.map(({ error }) => [error?.line, error?.code])).toEqual([
      [7, 'invalid_custom_id'],
      [8, 'invalid_custom_id'],
      [9, 'invalid_custom_id'],
      [10, 'invalid_json'],
      [11, 'invalid_custom_id'],
    ]);
  });

  it('sums up what its lines have used and cost', async () => {
    const end = await client.ended(await client.begin(linesText(chat('a'), chat('b'), chat('c', { n: 0 }))));
    const made = (await client.resultsIn(end.output_file_id)).map(({ response }) => response?.body ?? {});
    const sum = (of: (body: MadeBody) => number): number =>
      made.reduce((total, body) => total + of(body as unknown as MadeBody), 0);
    const inputs = sum(({ usage }) => usage.prompt_tokens);
    const outputs = sum(({ usage }) => usage.completion_tokens);
    expect(end).toMatchObject({
      max_cost_usd: null,
      usage: { input_tokens: inputs, output_tokens: outputs, total_tokens: inputs + outputs },
    });
    expect(inputs * outputs).toBeGreaterThan(0);
    expect((end as unknown as { cost_usd: number }).cost_usd).toBeCloseTo(
      sum(({ cost }) => cost.usd),
      9,
    );
  });

  it('begins no further line once its lines have cost what they may', async () => {
    const file = await client.upload(linesText(...Array.from({ length: 60 }, (_, at) => chat(String(at)))));
    const terms = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
    const capped = { input_file_id: file, ...terms, max_cost_usd: 0.000_000_001 };
    const end = await client.ended(await account.openai.batches.create(capped));
    expect(end).toMatchObject({ status: 'completed', max_cost_usd: 0.000_000_001 });
    const { completed = 0, failed = 0 } = end.request_counts ?? {};
    expect([completed > 0, completed <= 20, completed + failed]).toEqual([true, true, 60]);
    const refused = await client.resultsIn(end.error_file_id);
    expect(new Set(refused.map(({ error }) => error?.code))).toEqual(new Set(['max_cost_reached']));
    const zero = { ...capped, max_cost_usd: 0 };
    const wrong = account.openai.batches.create(zero);
    await expect(wrong).rejects.toMatchObject({ status: 400, param: 'max_cost_usd' });
  });

  it.each([
    ['/v1/embeddings', { model: 'vectors', input: 'x' }, { object: 'list' }],
    [
      '/v1/rerank',
      { model: 'rerank', query: 'sun', documents: ['the sun', 'the moon'] },
      { results: [{ index: 0 }, { index: 1 }], cost: { usd: expect.any(Number) as number } },
    ],
    ['/v1/moderations', { model: 'moderation', input: 'x' }, { results: [{ flagged: false }] }],
    ['/v1/completions', { model: 'cheap', prompt: 'x', max_tokens: 4 }, { object: 'text_completion' }],
    ['/v1/responses', { model: 'cheap', input: 'x', max_output_tokens: 16 }, { object: 'response' }],
    [
      '/v1/messages',
      { model: 'cheap', max_tokens: 4, messages: [{ role: 'user', content: 'x' }] },
      { type: 'message' },
    ],
  ] as const)('may be sent to %s', async (url, body, expected) => {
    const line = { custom_id: 'one', method: 'POST', url, body };
    const end = await client.ended(await client.begin(linesText(line), url as BatchEndpoint));
    const [result] = await client.resultsIn(end.output_file_id);
    expect(result?.response?.body).toMatchObject(expected);
  });

  it.each([
    ['/batches', async () => ({ input_file_id: await client.upload(linesText(chat('x'))), ...CHAT_BATCH })],
    ['/messages/batches', () => ({ requests: [{ custom_id: '1', params: MESSAGE }] })],
  ])('is refused by %s if it is encrypted, since it is stored', async (path, bodyOf) => {
    const response = await fetch(platform.apiUrl + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.apiKey}`,
        'content-type': 'application/json',
        [CLIENT_KEY]: '04c0ffee',
      },
      body: JSON.stringify(await bodyOf()),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('they cannot be encrypted');
  });

  it('reports what is wrong with a line, by its number, and goes on with the others', async () => {
    const text = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      Buffer.from(linesText(chat('first')).replace('\n', '\r\n')),
      Buffer.from('\r\n'),
      Buffer.from(
        linesText(
          '{"custom_id": "broken"',
          '[]',
          { ...chat(''), custom_id: '' },
          { ...chat('get'), method: 'GET' },
          { ...chat('elsewhere'), url: '/v1/embeddings' },
          { ...chat('no body'), body: 'x' },
          chat('streamed', { stream: true }),
          chat('first'),
          chat('unknown', { model: 'unknown' }),
        ),
      ),
      Buffer.from([0x22, 0xff, 0x22, 0x0a]),
      Buffer.from(`{"custom_id":"large","body":"${'x'.repeat(20_000_000)}"}\n`),
      Buffer.from(JSON.stringify(chat('last'))),
    ]);
    const end = await client.ended(await client.begin(text));
    expect(end.request_counts).toEqual({ total: 13, completed: 2, failed: 11 });
    const done = await client.resultsIn(end.output_file_id);
    expect(done.map(({ custom_id: id }) => id)).toEqual(['first', 'last']);
    const failed = await client.resultsIn(end.error_file_id);
    expect(failed.map(({ custom_id: id, error }) => [error?.line, id, error?.code])).toEqual([
      [3, null, 'invalid_json'],
      [4, null, 'invalid_json'],
      [5, null, 'invalid_custom_id'],
      [6, 'get', 'invalid_method'],
      [7, 'elsewhere', 'invalid_url'],
      [8, 'no body', 'invalid_body'],
      [9, 'streamed', 'stream_not_supported'],
      [10, 'first', 'duplicate_custom_id'],
      [undefined, 'unknown', undefined],
      [12, null, 'invalid_json'],
      [13, null, 'line_too_long'],
    ]);
    expect(failed[8]?.response).toMatchObject({
      status_code: 404,
      body: { error: { code: expect.anything() as string } },
    });
  });
});

interface MadeBody {
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly cost: { readonly usd: number };
}

/** The response to an upload with these members. */
function sent(members: object, content = '{}'): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(members)) form.append(name, String(value));
  form.append('file', new Blob([content]), 'x.jsonl');
  const headers = { authorization: `Bearer ${account.apiKey}` };
  return fetch(`${platform.apiUrl}/files`, { method: 'POST', body: form, headers });
}

describe('files', () => {
  it('are refused if they are empty', async () => {
    const response = await sent({ purpose: 'batch' }, '');
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ error: { param: 'file' } });
  });

  it.each([
    { 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '7200' },
    { expires_after: '{"anchor":"created_at","seconds":7200}' },
  ])('are kept as long as %j says', async (expiry) => {
    const response = await sent({ purpose: 'batch', ...expiry });
    const { created_at: from, expires_at: until } = (await response.json()) as Record<string, number>;
    expect(Number(until) - Number(from)).toBe(7_200);
  });

  it('are described, listed and deleted, each for its account only', async () => {
    const id = await client.upload(linesText(chat('x')));
    const other = await platform.account('1.00');
    expect(await account.openai.files.retrieve(id)).toMatchObject({
      filename: 'requests.jsonl',
      purpose: 'batch',
    });
    expect(await (await account.openai.files.content(id)).text()).toBe(linesText(chat('x')));
    const [first] = (await account.openai.files.list({ limit: 1 })).data;
    expect(first?.id).toBe(id);
    await expect(other.openai.files.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(other.openai.files.content(id)).rejects.toMatchObject({ status: 404 });
    await expect(other.openai.files.delete(id)).rejects.toMatchObject({ status: 404 });
    const refused = other.openai.batches.create({
      input_file_id: id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    await expect(refused).rejects.toMatchObject({ status: 404, param: 'input_file_id' });
    expect(await account.openai.files.delete(id)).toMatchObject({ id, deleted: true });
    await expect(account.openai.files.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it('are returned in parts, which a header names', async () => {
    const block = 4_194_304;
    const content = Buffer.alloc(block + 1_000, 'abcdefg\n');
    const id = await client.upload(content);
    const part = async (range: string): Promise<unknown[]> => {
      const headers = { authorization: `Bearer ${account.apiKey}`, range };
      const response = await fetch(`${platform.apiUrl}/files/${id}/content`, { headers });
      const bytes = Buffer.from(await response.arrayBuffer());
      return [response.status, response.headers.get('content-range'), response.ok ? bytes.toString() : ''];
    };
    const size = content.length;
    const cut = (from: number, to: number): string => content.subarray(from, to).toString();
    expect(await part('bytes=0-3')).toEqual([206, `bytes 0-3/${size}`, 'abcd']);
    expect(await part(`bytes=${block - 2}-${block + 1}`)).toEqual([
      206,
      `bytes ${block - 2}-${block + 1}/${size}`,
      cut(block - 2, block + 2),
    ]);
    expect(await part(`bytes=${block}-`)).toEqual([
      206,
      `bytes ${block}-${size - 1}/${size}`,
      cut(block, size),
    ]);
    expect(await part('bytes=-5')).toEqual([
      206,
      `bytes ${size - 5}-${size - 1}/${size}`,
      cut(size - 5, size),
    ]);
    expect(await part(`bytes=${size}-`)).toEqual([416, `bytes */${size}`, '']);
    expect(await part('bytes=0-1,3-4')).toEqual([200, null, content.toString()]);
  });

  it.each([
    [{ purpose: 'fine-tune' }, 'purpose'],
    [
      { purpose: 'batch', 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '1' },
      'expires_after.seconds',
    ],
    [
      { purpose: 'batch', expires_after: '{"anchor":"created_at","seconds":[7200]}' },
      'expires_after.seconds',
    ],
    [{ purpose: 'batch', expires_after: 'tomorrow' }, 'expires_after'],
  ])('are refused with %j', async (members, param) => {
    const response = await sent(members);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ error: { param } });
  });
});

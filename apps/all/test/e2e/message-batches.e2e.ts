import Anthropic, { type APIError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BatchClient } from '../batch-client.js';
import { Platform, type TestAccount } from '../platform.js';
import { eventually } from '../response-bodies.js';

type Batches = Anthropic['messages']['batches'];
type Requests = Anthropic.Messages.BatchCreateParams['requests'];

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  platform = await Platform.start();
  account = await platform.account('10.00');
});
afterAll(() => platform.stop());

const batchesOf = ({ apiKey }: TestAccount): Batches =>
  new Anthropic({ apiKey, authToken: null, baseURL: platform.apiUrl.replace(/\/v1$/, ''), maxRetries: 0 })
    .messages.batches;

const message = (id: string, params: object = {}): Requests[number] => ({
  custom_id: id,
  params: {
    model: 'test-model',
    max_tokens: 8,
    messages: [{ role: 'user', content: `Say ${id}` }],
    ...params,
  },
});

async function ended(batches: Batches, id: string): Promise<Anthropic.Messages.MessageBatch> {
  await eventually('the batch ends', async () => {
    return (await batches.retrieve(id)).processing_status === 'ended';
  });
  return batches.retrieve(id);
}

async function resultsOf(
  batches: Batches,
  id: string,
): Promise<Anthropic.Messages.MessageBatchIndividualResponse[]> {
  return allOf(await batches.results(id));
}

async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The status of a response about a batch, which the client would not request. */
async function statusOf(path: string): Promise<number> {
  const headers = { 'x-api-key': account.apiKey };
  return (await fetch(`${platform.apiUrl}/messages/batches/${path}`, { headers })).status;
}

describe('a message batch', () => {
  it('has the message of each request, or its error, and costs what these say', async () => {
    const batches = batchesOf(account);
    const before = await platform.balances(account.id);
    const requests = [
      message('first'),
      message('of-no-model', { model: 'unknown' }),
      message('stream', { stream: true }),
      message('last_1', { system: 'é\n€\u0000 😀' }),
    ];
    const begun = await batches.create({ requests });
    expect(begun).toMatchObject({
      type: 'message_batch',
      processing_status: 'in_progress',
      results_url: null,
    });
    const end = await ended(batches, begun.id);
    expect(end.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 2, canceled: 0, expired: 0 });
    const results = await resultsOf(batches, begun.id);
    expect(results).toMatchObject([
      { custom_id: 'first', result: { type: 'succeeded', message: { type: 'message', role: 'assistant' } } },
      {
        custom_id: 'of-no-model',
        result: { type: 'errored', error: { error: { type: 'not_found_error' } } },
      },
      {
        custom_id: 'stream',
        result: { type: 'errored', error: { error: { type: 'invalid_request_error' } } },
      },
      { custom_id: 'last_1', result: { type: 'succeeded' } },
    ]);
    const costs = results.flatMap(({ result }) => (result.type === 'succeeded' ? [result.message] : []));
    const paidUsd = costs.reduce((sum, made) => sum + (made as unknown as Paid).cost.usd, 0);
    const after = await platform.balances(account.id);
    expect(Number(before.usd) - Number(after.usd)).toBeCloseTo(paidUsd, 9);
  });

  it('that is cancelled gives up what is under way, and has a line for each request', async () => {
    const batches = batchesOf(account);
    const slow = { messages: [{ role: 'user', content: 'hi [[sim ttft-ms=600000]]' }] };
    const requests = [message('done'), ...Array.from({ length: 30 }, (_, at) => message(`slow-${at}`, slow))];
    const { id } = await batches.create({ requests });
    await eventually('one is done', async () => (await batches.retrieve(id)).request_counts.succeeded === 1);
    expect(await statusOf(`${id}/results`)).toBe(409);
    await expect(batches.delete(id)).rejects.toMatchObject({ status: 409 });
    expect(await batches.cancel(id)).toMatchObject({ processing_status: 'canceling' });
    const end = await ended(batches, id);
    expect(end.request_counts).toEqual({ processing: 0, succeeded: 1, errored: 0, canceled: 30, expired: 0 });
    const results = await resultsOf(batches, id);
    expect(results.map(({ result }) => result.type)).toEqual(['succeeded', ...Array(30).fill('canceled')]);
    expect(new Set(results.map(({ custom_id: name }) => name))).toEqual(
      new Set(requests.map(({ custom_id: name }) => name)),
    );
  });

  it('is listed, described and deleted for its account only, and its files are not shown', async () => {
    const own = await platform.account('1.00');
    const batches = batchesOf(own);
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.push((await batches.create({ requests: [message(name)] })).id);
    const [oldest = '', , newest = ''] = ids;
    const listed = await allOf(batches.list({ limit: 2 }));
    expect(listed.map(({ id }) => id)).toEqual(ids.toReversed());
    const before = await batches.list({ before_id: oldest, limit: 2 });
    expect([before.data.map(({ id }) => id), before.has_more]).toEqual([ids.slice(1).toReversed(), false]);
    await ended(batches, oldest);
    const other = batchesOf(account);
    const refusals = await Promise.allSettled([
      other.retrieve(oldest),
      other.results(oldest),
      other.delete(oldest),
      other.cancel(newest),
    ]);
    for (const refusal of refusals)
      expect(refusal).toMatchObject({
        reason: { status: 404, error: { type: 'error', error: { type: 'not_found_error' } } },
      });
    expect((await new BatchClient(platform, own.apiKey).openai.files.list()).data).toEqual([]);
    expect((await own.openai.batches.list()).data).toEqual([]);
    expect(await batches.delete(oldest)).toEqual({ id: oldest, type: 'message_batch_deleted' });
    await expect(batches.retrieve(oldest)).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    ['no requests', {}, 'requests'],
    ['none', { requests: [] }, 'requests'],
    ['the same id twice', { requests: [message('a'), message('b'), message('a')] }, 'requests.2.custom_id'],
    ['an id with spaces', { requests: [message('a b')] }, 'requests.0.custom_id'],
    ['a long id', { requests: [message('x'.repeat(65))] }, 'requests.0.custom_id'],
    ['no params', { requests: [{ custom_id: 'a' }] }, 'requests.0.params'],
    ['a request over 8 MiB', { requests: [message('a', { system: 'x'.repeat(9_000_000) })] }, 'requests.0'],
  ])('is refused with %s', async (_what, body, path) => {
    const made = batchesOf(account).create(body as Anthropic.Messages.BatchCreateParams);
    const error = await made.then(
      () => undefined,
      (refusal: APIError) => refusal,
    );
    expect(error).toMatchObject({ status: 400, error: { error: { type: 'invalid_request_error' } } });
    expect(JSON.stringify(error?.error)).toContain(path);
  });

  it('is refused whose JSON is not whole', async () => {
    const headers = { 'x-api-key': account.apiKey, 'content-type': 'application/json' };
    const body = '{"requests":[{"custom_id":"a","params":{}}';
    const response = await fetch(`${platform.apiUrl}/messages/batches`, { method: 'POST', headers, body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  });
});

interface Paid {
  readonly cost: { readonly usd: number };
}

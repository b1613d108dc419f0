import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type OperatorResponse, type TestAccount } from '../platform.js';
import { errorOf, eventually } from '../response-bodies.js';

const PRICE_USD = 0.2;
const ORDER = { prompt: 'a cat that nobody may see', duration: '5s', resolution: '720p' };

let backend: Simulator;
let platform: Platform;
let account: TestAccount;

const video = (id: string, settings: string): object => ({
  id,
  name: id,
  type: 'video',
  tier: 'XS',
  constraints: { durations: ['5s'], resolutions: ['720p'] },
  pricing: { perSecond: { '720p': PRICE_USD / 5 } },
  backends: [{ url: `${backend.url}/v1`, model: `clip;${settings}` }],
});

beforeAll(async () => {
  backend = await startSimulator({ port: 0 });
  const models = [video('clip', 'delay-ms=0'), video('slow', 'delay-ms=600000')];
  platform = await Platform.start({ models });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${platform.apiUrl}/video/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${account.apiKey}` },
    body: JSON.stringify(body),
  });

async function queue(model: string): Promise<string> {
  const response = await post('queue', { ...ORDER, model });
  return ((await response.json()) as { queue_id: string }).queue_id;
}

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly refund: string | null;
}

async function jobs(query: Readonly<Record<string, string>>): Promise<Listed[]> {
  const { status, body } = await platform.operator('GET', `/jobs?${new URLSearchParams(query).toString()}`);
  expect([status, JSON.stringify(body)]).toEqual([200, expect.not.stringContaining(ORDER.prompt)]);
  return body['data'] as Listed[];
}

const end = (id: string, reason = 'blocks the only GPU'): Promise<OperatorResponse> =>
  platform.operator('POST', `/jobs/${id}/end`, { reason });

const stateOf = async (id: string): Promise<string | undefined> =>
  (await jobs({ accountId: account.id })).find((job) => job.id === id)?.state;

const balance = async (): Promise<number> => Number((await platform.balances(account.id)).usd);

describe('an operator', () => {
  it('lists jobs by account, kind, model, state and time, on pages', async () => {
    const from = new Date(Date.now() - 1_000).toISOString();
    const ids = [await queue('clip'), await queue('slow'), await queue('slow')].toReversed();
    const own = { accountId: account.id, from };
    await eventually('the video is made', async () => (await stateOf(ids[2] ?? '')) === 'completed');
    const idsOf = async (query: object): Promise<string[]> =>
      (await jobs({ ...own, ...query })).map(({ id }) => id);
    expect(await idsOf({})).toEqual(ids);
    expect(await idsOf({ model: 'slow', kind: 'video' })).toEqual(ids.slice(0, 2));
    expect(await idsOf({ state: 'unfinished' })).toEqual(ids.slice(0, 2));
    expect(await idsOf({ state: 'completed' })).toEqual(ids.slice(2));
    expect(await idsOf({ kind: 'music' })).toEqual([]);
    expect(await idsOf({ until: from })).toEqual([]);
    const first = await platform.operator('GET', `/jobs?accountId=${account.id}&limit=2`);
    const before = String(first.body['nextBefore']);
    expect((await jobs({ accountId: account.id, limit: '2', before })).map(({ id }) => id)).toEqual(
      ids.slice(2),
    );
    for (const query of ['state=over', 'before=x', 'from=today', 'accountId=me', 'limit=0'])
      expect((await platform.operator('GET', `/jobs?${query}`)).status).toBe(400);
  });

  it('ends a job under way, which is cancelled at its backend and costs nothing', async () => {
    const before = await balance();
    const id = await queue('slow');
    await eventually('a backend has it', async () => (await stateOf(id)) === 'running');
    expect(await balance()).toBeCloseTo(before - PRICE_USD, 9);
    const ended = await end(id);
    expect([ended.status, ended.body]).toMatchObject([
      200,
      { id, state: 'failed', failure: { code: 'ENDED_BY_OPERATOR' } },
    ]);
    await eventually('its cost is returned', async () =>
      (await jobs({ state: 'failed', accountId: account.id })).some(
        (job) => job.id === id && job.refund === 'done',
      ),
    );
    expect(await balance()).toBeCloseTo(before, 9);
    const seen = await post('retrieve', { model: 'slow', queue_id: id });
    expect([seen.status, await seen.json()]).toMatchObject([
      500,
      { error: { code: 'INFERENCE_FAILED', message: 'The operator of this service has ended the job.' } },
    ]);
    const again = await end(id);
    expect([again.status, again.body]).toMatchObject([200, { state: 'failed', refund: 'done' }]);
    expect(await balance()).toBeCloseTo(before, 9);
  });

  it('ends a job once, however many do so at the same time', async () => {
    const before = await balance();
    const id = await queue('slow');
    const statuses = await Promise.all(Array.from({ length: 8 }, () => end(id).then(({ status }) => status)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    await eventually('its cost is returned', async () => (await balance()) > before - PRICE_USD / 2);
    expect(await balance()).toBeCloseTo(before, 9);
  });

  it('does not end a job that has finished', async () => {
    const id = await queue('clip');
    await eventually('the video is made', async () => (await stateOf(id)) === 'completed');
    const before = await balance();
    const { status, body } = await end(id);
    expect([status, body['code']]).toEqual([409, 'JOB_FINISHED']);
    expect(await balance()).toBeCloseTo(before, 9);
    expect((await post('retrieve', { model: 'clip', queue_id: id })).status).toBe(200);
  });

  it('ends no job without a reason, and none that does not exist', async () => {
    const unknown = crypto.randomUUID();
    expect((await end(unknown)).body['code']).toBe('JOB_NOT_FOUND');
    expect((await end(unknown, ' ')).status).toBe(400);
    expect((await end('payment_1')).status).toBe(400);
  });

  it('is recorded with the reason when a job is ended', async () => {
    const id = await queue('slow');
    await end(id, 'customer asked');
    const { body } = await platform.operator('GET', `/actions?target=${id}`);
    expect(body['data']).toMatchObject([
      { action: 'endJob', status: 200, input: { reason: 'customer asked' } },
    ]);
  });
});

it('a client cannot end jobs with its key', async () => {
  const url = platform.operatorUrl;
  const id = await queue('slow');
  const response = await fetch(`${url}/jobs/${id}/end`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${account.apiKey}` },
    body: '{"reason":"x"}',
  });
  expect([response.status, (await errorOf(response)).code]).toEqual([401, 'AUTHENTICATION_FAILED']);
});

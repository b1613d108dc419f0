import { randomUUID } from 'node:crypto';
import type { Problem } from '@svc/contracts/problems';
import { createLogger } from '@svc/runtime';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClaimedRequest, RpcReplays } from './rpc-replays.js';
import { type NamedRequest, RpcRequestsStore } from './rpc-requests.store.js';

const RESPONSE = { credits: 20, backend: 'b', response: '{"id":1}' };

let test: TestDatabase;
let database: Database;
let store: RpcRequestsStore;
let replays: RpcReplays;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'gateway' }));
  store = new RpcRequestsStore(database);
  replays = new RpcReplays(store, { log: createLogger('silent') });
});
afterAll(async () => {
  await database.onApplicationShutdown();
  await test.stop();
});

const named = (): NamedRequest => ({ accountId: randomUUID(), key: 'k', bodySha256: 'a' });

async function claimed(request: NamedRequest, requestId: string): Promise<ClaimedRequest> {
  const claim = await replays.claim(request, requestId);
  if (!('lease' in claim)) throw new Error('it has its response');
  return claim;
}

/** As if the process of the request had ended long ago. */
const end = ({ accountId }: NamedRequest): Promise<unknown> =>
  database.query(
    `UPDATE gateway.rpc_requests SET lease_until = now() - interval '1 second' WHERE account_id = $1`,
    [accountId],
  );

it('gives a request to one of 100 processes', async () => {
  const request = named();
  const claims = await Promise.allSettled(
    Array.from({ length: 100 }, (_, at) => replays.claim(request, `r-${at}`)),
  );
  expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const refusals = claims.flatMap((claim) => (claim.status === 'rejected' ? [claim.reason as Problem] : []));
  expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(['REQUEST_IN_PROGRESS']));
});

it('repeats a charged response, and refuses another request with its key', async () => {
  const request = named();
  const claim = await claimed(request, 'r');
  await replays.during(claim, () => replays.answer(claim, RESPONSE));
  expect(await replays.claim(request, 'r-2')).toEqual(RESPONSE);
  await expect(replays.claim({ ...request, bodySha256: 'b' }, 'r-3')).rejects.toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
  });
});

it('passes a request on under its first id when its process has ended, and refuses the late response', async () => {
  const request = named();
  const first = await claimed(request, 'r-1');
  expect(first.mayBeSent).toBe(false);
  await end(request);
  const second = await claimed(request, 'r-2');
  expect(second).toMatchObject({ mayBeSent: true, lease: { requestId: 'r-1' } });
  await expect(replays.answer(first, RESPONSE)).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS' });
  await replays.answer(second, RESPONSE);
});

it('passes a response on that may be charged', async () => {
  const request = named();
  await replays.answer(await claimed(request, 'r-1'), RESPONSE);
  await expect(replays.claim(request, 'r-2')).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS' });
  await end(request);
  expect(await claimed(request, 'r-2')).toMatchObject({ earlier: RESPONSE, lease: { requestId: 'r-1' } });
});

it('frees the key of a request that fails, but not of one with a response', async () => {
  const request = named();
  const claim = await claimed(request, 'r-1');
  const fails = (): Promise<never> => Promise.reject(new Error('refused'));
  await expect(replays.during(claim, fails)).rejects.toThrow('refused');
  const again = await claimed(request, 'r-2');
  expect(again).toMatchObject({ mayBeSent: false, lease: { requestId: 'r-2' } });
  await replays.answer(again, RESPONSE);
  await expect(replays.during(again, fails)).rejects.toThrow('refused');
  await expect(replays.claim(request, 'r-3')).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS' });
});

it('deletes requests after a day and no others', async () => {
  const [old, fresh] = [named(), named()];
  for (const request of [old, fresh]) {
    const claim = await claimed(request, 'r-1');
    await replays.during(claim, () => replays.answer(claim, RESPONSE));
  }
  await database.query(
    `UPDATE gateway.rpc_requests SET expires_at = expires_at - interval '1 day' WHERE account_id = $1`,
    [old.accountId],
  );
  await store.forget();
  expect(await claimed(old, 'r-2')).toMatchObject({ mayBeSent: false });
  expect(await replays.claim(fresh, 'r-2')).toEqual(RESPONSE);
});

import { randomUUID } from 'node:crypto';
import { type Charge, NO_USAGE, chargeLine } from '@svc/contracts/messages';
import type { Charges } from '@svc/contracts/ports';
import type { Problem } from '@svc/contracts/problems';
import { createLogger } from '@svc/runtime';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ExpiredRowsStore } from '../expired-rows.store.js';
import { RepeatedRequestStore } from './repeated-request.store.js';
import { ClaimedRequest, type KeyedRequest, RepeatedRequests } from './repeated-requests.js';
import { digestOf } from './sealed-answer.js';

const ANSWER = { status: 200, headers: { 'content-type': 'text/plain' }, body: [Buffer.from('a secret\n')] };
const LINE = { sku: 'm-llm-output-mtoken', unit: 'token', priceNanoPerMillion: 1_000_000n } as const;

let test: TestDatabase;
let database: Database;
let store: RepeatedRequestStore;
let requests: RepeatedRequests;

const givenBack: Charge[] = [];

/** The books note what is given back. */
const charges: Charges = {
  post: () => Promise.resolve(),
  giveBack(charge) {
    givenBack.push(charge);
    return Promise.resolve();
  },
};

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'gateway' }));
  store = new RepeatedRequestStore(database);
  requests = new RepeatedRequests(store, charges, { log: createLogger('silent') });
});
afterAll(async () => {
  await database.onApplicationShutdown();
  await test.stop();
});

interface Sent {
  readonly accountId?: string;
  readonly body?: string;
  readonly requestId?: string;
  readonly mayStore?: boolean;
}

const sent = ({ accountId, body = 'a', requestId = 'r', mayStore = true }: Sent = {}): KeyedRequest => ({
  accountId: accountId ?? randomUUID(),
  key: 'k',
  digest: digestOf([body]),
  requestId,
  mayStore,
});

async function claimed(request: KeyedRequest): Promise<ClaimedRequest> {
  const claim = await requests.claim(request);
  if (!(claim instanceof ClaimedRequest)) throw new Error('it has its response');
  return claim;
}

const chargeOf = ({ accountId }: KeyedRequest, tokens: number): Charge => ({
  requestId: 'r',
  accountId,
  keyId: 'key',
  model: 'm',
  backend: 'b',
  at: new Date().toISOString(),
  usage: NO_USAGE,
  lines: [chargeLine(LINE, tokens)],
  cost: { usdNano: BigInt(tokens), diemNano: 0n },
  writeOffNano: 0n,
  durationMs: 1,
});

/** As if the process of the request had ended long ago. */
const kill = ({ accountId }: KeyedRequest): Promise<unknown> =>
  database.query(
    `UPDATE gateway.repeated_requests SET lease_until = now() - interval '1 second' WHERE account_id = $1`,
    [accountId],
  );

it('gives a request to one of 100 processes', async () => {
  const request = sent();
  const claims = await Promise.allSettled(
    Array.from({ length: 100 }, (_, at) => requests.claim({ ...request, requestId: `r-${at}` })),
  );
  expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const refusals = claims.flatMap((claim) => (claim.status === 'rejected' ? [claim.reason as Problem] : []));
  expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(['REQUEST_IN_PROGRESS']));
});

it('repeats a response, and refuses another request with its key', async () => {
  const request = sent();
  await (await claimed(request)).answered(ANSWER);
  expect(await requests.claim(request)).toEqual(ANSWER);
  const other = sent({ accountId: request.accountId, body: 'b' });
  await expect(requests.claim(other)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
});

it('stores no response in plain text, and none of an encrypted request', async () => {
  const [plain, encrypted] = [sent(), sent({ mayStore: false, requestId: 'r-9' })];
  await (await claimed(plain)).answered(ANSWER);
  await (await claimed(encrypted)).answered(ANSWER);
  const rows = await database.query<{ answer: Buffer | null }>(
    'SELECT answer FROM gateway.repeated_requests WHERE account_id = ANY($1::uuid[])',
    [[plain.accountId, encrypted.accountId]],
  );
  const answers = rows.flatMap(({ answer }) => answer ?? []);
  expect(answers).toHaveLength(1);
  expect(answers[0]?.includes('secret')).toBe(false);
  await expect(requests.claim(encrypted)).rejects.toMatchObject({
    code: 'REQUEST_ALREADY_MADE',
    message: expect.stringContaining('r-9') as unknown,
  });
});

it('stores no response beyond the size limit, and no more than an account may have', async () => {
  const large = sent();
  await (await claimed(large)).answered({ ...ANSWER, body: [Buffer.alloc(1_048_576), Buffer.alloc(1)] });
  await expect(requests.claim(large)).rejects.toMatchObject({ code: 'REQUEST_ALREADY_MADE' });
  const many = sent();
  await database.query(
    `INSERT INTO gateway.repeated_requests
       (account_id, key, body_sha256, request_id, lease_until, is_made, answer, expires_at)
     SELECT $1, 'other-' || n, '', '', now(), true, '\\x00', now() + interval '1 day' FROM generate_series(1, 1000) AS n`,
    [many.accountId],
  );
  await (await claimed(many)).answered(ANSWER);
  await expect(requests.claim(many)).rejects.toMatchObject({ code: 'REQUEST_ALREADY_MADE' });
});

it('a process that takes over charges what the one before has stored, under its id', async () => {
  const request = sent();
  const first = await claimed(request);
  expect(first.isTakenOver).toBe(false);
  const charge = chargeOf(request, 5);
  expect(await first.charged(charge)).toEqual(charge);
  await kill(request);
  const second = await claimed({ ...request, requestId: 'r-2' });
  expect([second.isTakenOver, second.requestId]).toEqual([true, 'r']);
  expect(await second.charged(chargeOf(request, 9))).toEqual(charge);
  await expect(first.charged(charge)).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS' });
  // The late response of the first process is not stored.
  await first.answered({ ...ANSWER, body: [Buffer.from('late')] });
  await second.answered(ANSWER);
  expect(await requests.claim(request)).toEqual(ANSWER);
});

it('frees the key of a request that ends without an effect, but not of one that is charged', async () => {
  const request = sent();
  await (await claimed(request)).ended(false);
  const again = await claimed({ ...request, requestId: 'r-2' });
  expect([again.isTakenOver, again.requestId]).toEqual([false, 'r-2']);
  await again.charged(chargeOf(request, 5));
  await again.ended(false);
  await expect(requests.claim(request)).rejects.toMatchObject({ code: 'REQUEST_ALREADY_MADE' });
});

it('keeps a request that an ended process has charged and that is refused now, until it gets its response', async () => {
  const request = sent();
  const charge = chargeOf(request, 5);
  await (await claimed(request)).charged(charge);
  for (let refused = 0; refused < 2; refused += 1) {
    await kill(request);
    await (await claimed({ ...request, requestId: 'r-2' })).ended(false);
  }
  await kill(request);
  const last = await claimed({ ...request, requestId: 'r-3' });
  expect([last.requestId, await last.charged(chargeOf(request, 9))]).toEqual(['r', charge]);
  await last.answered(ANSWER);
  expect(await requests.claim(request)).toEqual(ANSWER);
});

it('frees the key of a request whose charge was refused, also if another process has taken it over', async () => {
  const request = sent();
  for (const isTakenOver of [false, true]) {
    const refused = await claimed(request);
    await refused.charged(chargeOf(request, 5));
    refused.refused();
    await expect(refused.charged(chargeOf(request, 5))).rejects.toMatchObject({
      code: 'REQUEST_IN_PROGRESS',
    });
    if (isTakenOver) {
      await kill(request);
      await claimed(request);
    }
    await refused.ended(true);
  }
  const again = await claimed({ ...request, requestId: 'r-2' });
  expect([again.isTakenOver, again.requestId]).toEqual([false, 'r-2']);
  expect(await again.charged(chargeOf(request, 9))).toMatchObject({ cost: { usdNano: 9n } });
});

it('deletes requests after a day and no others', async () => {
  const [old, fresh] = [sent(), sent()];
  for (const request of [old, fresh]) await (await claimed(request)).answered(ANSWER);
  await database.query(
    `UPDATE gateway.repeated_requests SET expires_at = expires_at - interval '1 day' WHERE account_id = $1`,
    [old.accountId],
  );
  await new ExpiredRowsStore(database).delete(new AbortController().signal);
  expect((await claimed(old)).isTakenOver).toBe(false);
  expect(await requests.claim(fresh)).toEqual(ANSWER);
});

it('never charges a request that was withdrawn, and withdraws none whose charge may be stored', async () => {
  const request = sent();
  const withdrawn = await claimed(request);
  expect(withdrawn.withdraw()).toBe(true);
  await expect(withdrawn.charged(chargeOf(request, 1))).rejects.toMatchObject({
    code: 'REQUEST_IN_PROGRESS',
  });
  await withdrawn.ended(false);
  const charged = await claimed(request);
  const charging = charged.charged(chargeOf(request, 2));
  expect(charged.withdraw()).toBe(false);
  expect(await charging).toMatchObject({ cost: { usdNano: 2n } });
  expect(charged.withdraw()).toBe(false);
});

it('releases a request with the charge that is stored for it, and charges nothing from then on', async () => {
  const request = sent();
  const free = await claimed(request);
  expect(await free.released()).toBeUndefined();
  const first = await claimed({ ...request, requestId: 'r-1' });
  expect([first.isTakenOver, first.requestId]).toEqual([false, 'r-1']);
  await expect(free.charged(chargeOf(request, 1))).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS' });
  const charge = await first.charged(chargeOf(request, 5));
  expect(await first.released()).toEqual(charge);
  await expect(first.charged(charge)).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS' });
  const second = await claimed({ ...request, requestId: 'r-2' });
  expect([second.requestId, second.earlierCharge]).toEqual(['r-1', charge]);
});

it('makes a request under another id without its charge, which its next attempts keep', async () => {
  const request = sent();
  const first = await claimed(request);
  expect(await requests.afresh(first, 'r-0')).toBe(first);
  const charge = await first.charged(chargeOf(request, 5));
  await first.released();
  const second = await claimed(request);
  const renamed = await requests.afresh(second, 'r-2');
  expect(givenBack).toEqual([charge]);
  expect([renamed.requestId, renamed.earlierCharge]).toEqual(['r-2', undefined]);
  await expect(requests.afresh(second, 'r-3')).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS' });
  await expect(second.charged(chargeOf(request, 5))).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS' });
  await renamed.released();
  const last = await claimed(request);
  expect([last.requestId, last.earlierCharge]).toEqual(['r-2', undefined]);
  const next = await last.charged({ ...chargeOf(request, 9), requestId: 'r-2' });
  last.refused();
  expect(await last.released()).toEqual(next);
});

it('releases all requests of a beginning that have no response, also from processes that make them', async () => {
  const { accountId } = sent();
  const keys = ['batch 1', 'batch 2', 'batch 3', 'batch% 4'];
  const all = keys.map((key) => ({ ...sent({ accountId, requestId: key }), key }));
  const [first, second, third, fourth] = await Promise.all(all.map(claimed));
  for (const claim of [first, second, fourth]) await claim?.charged(chargeOf(sent({ accountId }), 1));
  await second?.ended(true);
  const released = await requests.releaseAll(accountId, 'batch ');
  expect(released.map(({ cost }) => cost.usdNano)).toEqual([1n]);
  await expect(third?.charged(chargeOf(sent({ accountId }), 1))).rejects.toMatchObject({
    code: 'REQUEST_IN_PROGRESS',
  });
  const again = await Promise.all([0, 2].map((at) => claimed(all[at] ?? sent())));
  expect(again.map(({ earlierCharge }) => earlierCharge !== undefined)).toEqual([true, false]);
});

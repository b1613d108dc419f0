import { routes } from '@svc/api';
import { RequestSteps, createLogger } from '@svc/runtime';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { FailedRequestStore } from './failed-request.store.js';
import { FailedRequests } from './failed-requests.js';

const ACCOUNT = '00000000-0000-4000-8000-000000000001';

let test: TestDatabase;
let database: Database;
let store: FailedRequestStore;
let failed: FailedRequests;
let server: FastifyInstance;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'failed requests' }));
  store = new FailedRequestStore(database);
});

afterAll(async () => {
  await database.onApplicationShutdown();
  await test.stop();
});

/** A server that refuses every request, of the account in a header. */
beforeEach(() => {
  server = fastify();
  server.decorateRequest('record', { getter: recordOf });
  server.decorateRequest('caller', {
    getter(this: FastifyRequest) {
      return this.headers['account'] === undefined
        ? undefined
        : ({ keyId: this.headers['account'] } as never);
    },
  });
  server.decorateRequest('matchedRoute', { getter: () => routes.chatCompletions });
  const steps = new RequestSteps();
  server.addHook('onResponse', async (request, reply) => steps.ended(request, reply.statusCode));
  failed = new FailedRequests(steps, store, { log: createLogger('silent') });
  failed.onModuleInit();
  server.get('/', (_request, reply) => reply.status(402).send('refused'));
  return async () => {
    await failed.beforeApplicationShutdown();
    await server.close();
    await database.query('DELETE FROM gateway.failed_requests');
  };
});

function recordOf(this: FastifyRequest) {
  return { startedMs: 0, ...(this.headers['account'] !== undefined && { accountId: ACCOUNT }) };
}

const send = (account?: string): Promise<unknown> =>
  server.inject({ url: '/', headers: account === undefined ? {} : { account } });

const stored = async (): Promise<number> => {
  await failed.flush();
  const [row] = await database.query<{ count: bigint }>('SELECT count(*) FROM gateway.failed_requests');
  return Number(row?.count);
};

it('keeps a bounded number between two flushes, with room for others beside one that floods', async () => {
  for (let count = 0; count < 100; count += 1) await send('flooding');
  for (let count = 0; count < 100; count += 1) await send();
  for (let count = 0; count < 5; count += 1) await send('another');
  expect(await stored()).toBe(20 + 50 + 5);
  for (let count = 0; count < 50; count += 1) for (const key of 'abcdefghijklmno') await send(key);
  expect(await stored()).toBe(75 + 200);
});

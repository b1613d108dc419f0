import type { HttpAdapterHost } from '@nestjs/core';
import { ActionQuery, type ActionView } from '@svc/api/operator';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { createLogger } from '@svc/runtime';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ActionLog } from './action-log.js';
import { ActionStore } from './action.store.js';

let test: TestDatabase;
let database: Database;
let store: ActionStore;
let done: string[];
let requests = 0;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'actions' }));
  store = new ActionStore(database);
});

beforeEach(() => {
  done = [];
});

afterAll(async () => {
  await database.onApplicationShutdown();
  await test.stop();
});

/** A server that logs its actions and treats every request as authenticated with this token. */
function serverOf(token: string | undefined, actions = store): FastifyInstance {
  const server = fastify({ genReqId: () => `req-${(requests += 1)}` });
  server.decorateRequest('operator', token);
  server.decorateRequest('isNoted', false);
  server.decorateRequest('record', {
    getter: () => ({ startedMs: 0, problem: new Problem('REFERENCE_REUSED') }),
  });
  const host = { httpAdapter: { getInstance: () => server } } as unknown as HttpAdapterHost;
  new ActionLog(host, actions, { log: createLogger('silent') }).onModuleInit();
  server.decorateRequest('matchedRoute', {
    getter(this: FastifyRequest) {
      return this.routeOptions.config.route;
    },
  });
  server.put('/log-level', { config: { route: routes.setLogLevel } }, () => 'changed');
  server.get('/things/:id', () => 'seen');
  server.post('/things/:id', async (request, reply) => {
    const { id } = request.params as { id: string };
    done.push(id);
    if (id === 'known') return reply.status(409).send('refused');
    const [noted] = await list({ target: id });
    return noted;
  });
  return server;
}

const list = (query: object): Promise<ActionView[]> => store.list(ActionQuery.parse(query));

it('logs an action before it begins, and its result before the response', async () => {
  const url = '/things/first';
  const response = await serverOf('ann').inject({ method: 'POST', url, payload: { usd: '1.00' } });
  const [noted] = await list({ target: 'first' });
  expect(response.json()).toEqual({ ...noted, status: null, code: null });
  expect(noted).toMatchObject({
    token: 'ann',
    target: 'first',
    input: { usd: '1.00' },
    status: 200,
    requestId: `req-${requests}`,
  });
});

it('logs a refusal with its code', async () => {
  await serverOf('ann').inject({ method: 'POST', url: '/things/known' });
  expect(await list({ target: 'known' })).toMatchObject([
    { status: 409, code: 'REFERENCE_REUSED', input: null },
  ]);
});

it('logs neither reads nor the requests of clients', async () => {
  await serverOf('ann').inject({ method: 'GET', url: '/things/other' });
  await serverOf(undefined).inject({ method: 'POST', url: '/things/other' });
  expect(await list({ target: 'other' })).toEqual([]);
});

it('refuses an action that cannot be logged', async () => {
  const away = new Database(createPool(test.url, { name: 'away' }));
  await away.onApplicationShutdown();
  const response = await serverOf('ann', new ActionStore(away)).inject({ method: 'POST', url: '/things/x' });
  expect(response.json()).toMatchObject({ code: 'UNAVAILABLE' });
  expect(done).toEqual([]);
});

it('allows changing the log level while actions cannot be logged', async () => {
  const away = new Database(createPool(test.url, { name: 'away' }));
  await away.onApplicationShutdown();
  const response = await serverOf('ann', new ActionStore(away)).inject({ method: 'PUT', url: '/log-level' });
  expect(response.body).toBe('changed');
});

it('lists actions newest first, in pages, by token, time and request', async () => {
  for (const [token, requestId] of [
    ['bob', 'b1'],
    ['eve', 'e1'],
    ['bob', 'b2'],
  ] as const)
    await store.begin({ token, action: 'refundCharge', target: 'page', requestId, input: undefined });
  const ids = (actions: ActionView[]): string[] => actions.map(({ requestId }) => requestId);
  const first = await list({ target: 'page', limit: 2 });
  expect(ids(first)).toEqual(['b2', 'e1']);
  expect(ids(await list({ target: 'page', before: first[1]?.id }))).toEqual(['b1']);
  expect(ids(await list({ token: 'bob' }))).toEqual(['b2', 'b1']);
  expect(ids(await list({ action: 'refundCharge', requestId: 'e1' }))).toEqual(['e1']);
  const at = first[0]?.at;
  expect(ids(await list({ target: 'page', from: at }))).toContain('b2');
  expect(ids(await list({ target: 'page', from: '1999-12-31T23:59:59.5+23:59' }))).toContain('b2');
  expect(ids(await list({ target: 'page', until: at }))).not.toContain('b2');
});

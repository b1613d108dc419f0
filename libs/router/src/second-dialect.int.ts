import { Catalog } from '@svc/catalog';
import type { ChatResponse, Piece } from '@svc/contracts/inference';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Reply, TestBackend, replying } from '../test/backend.js';
import { eventDialect } from '../test/event-dialect.js';
import { RouterFixture } from '../test/router-fixture.js';
import { catalogFile, patientRouter } from '../test/routing.js';
import { SerialisedRouter } from '../test/serialised-router.js';
import { DIALECTS } from './dialects/dialects.js';

const KIND = 'llama-cpp-python';
const { [KIND]: known } = DIALECTS;
const CALL = {
  requestId: 'r',
  accountId: 'a',
  model: 'm',
  body: [Buffer.from('{"messages":[1],"max_tokens":5}')],
};

const eventsOf =
  (...events: readonly object[]): Reply =>
  (response) => {
    for (const event of events) response.write(`event: x\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  };

const START = { type: 'message_start', message: { usage: { input: 3, cache_read: 4 } } };
const TEXT = { type: 'content_block_delta', index: 0, delta: { text: 'Hi' } };
const END = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output: 2 } };
const OVERLOADED = { type: 'error', error: { type: 'overloaded' } };

async function read(response: ChatResponse): Promise<Piece[]> {
  const pieces: Piece[] = [];
  const arrivals = response.arrivals({ idleTimeoutMs: 60_000, onRepetition: undefined });
  for await (const events of Symbol.asyncIterator in arrivals ? arrivals : [arrivals])
    for (const event of events) pieces.push(...response.read(event));
  return pieces;
}

beforeEach(() => {
  DIALECTS[KIND] = eventDialect;
});
afterEach(() => {
  DIALECTS[KIND] = known;
});

describe.each([
  ['in one process', false],
  ['between processes', true],
])('a dialect of backends that has nothing of that of OpenAI, %s', (_, isRemote) => {
  const fixture = new RouterFixture((catalog) => {
    const { router, stop } = patientRouter(catalog);
    return { router: isRemote ? new SerialisedRouter(router) : router, stop };
  });

  const { signal } = new AbortController();

  it('writes its own request, and its stream is read as pieces', async () => {
    const backend = await fixture.givenOne(eventsOf(START, TEXT, END, { type: 'message_stop' }), {
      kind: KIND,
    });
    const response = await fixture.router.chat.stream(CALL, signal);
    const pieces = await read(response);
    expect(pieces.map(({ delta, end }) => [delta, end])).toEqual([
      [{ role: 'assistant' }, null],
      [{ content: 'Hi' }, null],
      [{}, 'stop'],
    ]);
    expect(response.facts.reported).toMatchObject({ promptTokens: 7, completionTokens: 2, cachedTokens: 4 });
    expect(backend.requests[0]?.url).toBe('/v1/talk');
    expect(JSON.parse(backend.requests[0]?.body ?? '')).toEqual({
      model: 'x',
      turns: [1],
      limit: 5,
      events: true,
    });
  });

  it('has its whole responses read as pieces, too', async () => {
    const message = { type: 'message', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'max_tokens' };
    await fixture.givenOne(replying({ ...message, usage: { input: 1, output: 2 } }), { kind: KIND });
    const response = await fixture.router.chat.complete(CALL, signal);
    expect(await read(response)).toMatchObject([{ delta: { content: 'Hi' }, end: 'length', isWhole: true }]);
    expect(response.facts.reported).toMatchObject({ promptTokens: 1, completionTokens: 2 });
  });

  it('is left for the next backend if an error comes before its first piece, and is cut after it', async () => {
    const first = await TestBackend.start(eventsOf(START, { type: 'ping' }, OVERLOADED));
    const second = await TestBackend.start(eventsOf(START, TEXT, END));
    fixture.backends.push(first, second);
    const backends = [1, 1e-9].map((weight, at) => ({
      url: [first, second][at]?.url,
      model: 'x',
      kind: KIND,
      weight,
    }));
    await fixture.begin(new Catalog(catalogFile({ id: 'm', backends })));
    const response = await fixture.router.chat.stream(CALL, signal);
    expect(response.retries).toBe(1);
    expect((await read(response)).at(-1)).toMatchObject({ end: 'stop' });
    second.reply = eventsOf(START, TEXT, OVERLOADED);
    const cut = await fixture.router.chat.stream(CALL, signal);
    await expect(read(cut)).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
  });
});

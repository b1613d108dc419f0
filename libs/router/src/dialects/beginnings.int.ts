import type { ChunkStream, Completion, ChatCall } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { describe, expect, it } from 'vitest';
import { type Reply, replying, streaming } from '../../test/backend.js';
import { RouterFixture } from '../../test/router-fixture.js';
import { collect, patientRouter, quickRouter } from '../../test/routing.js';

const DONE = 'data: [DONE]\n\n';
const eventOf = (choice: object, more: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }], ...more })}\n\n`;
const ROLE = eventOf({ delta: { role: 'assistant', content: '' }, finish_reason: null });
const CHUNK = eventOf({ delta: { content: 'hi' } });
const ANSWER = { choices: [{ index: 0, message: { content: 'hi' } }] };
const CALL: ChatCall = {
  requestId: 'r',
  accountId: 'a',
  model: 'm',
  body: [Buffer.from('{"messages":[]}')],
};

const fixture = new RouterFixture((catalog) => patientRouter(catalog));

/** The router of a model with these backends, the first of them preferred. */
async function given(...replies: readonly Reply[]) {
  await fixture.given(...replies);
  const { router } = fixture;
  const { signal } = new AbortController();
  return {
    complete: (): Promise<Completion> => router.complete(CALL, signal),
    stream: (): Promise<ChunkStream> => router.stream(CALL, signal),
  };
}

describe('a choice that its server could not complete', () => {
  const FAILED = [
    { finish_reason: 'abort' },
    { finish_reason: 'ERROR' },
    { finish_reason: 'insufficient_system_resource' },
    { finish_reason: 'error', error: { code: 502, message: 'upstream lost' } },
    { finish_reason: 'stop', error: { message: 'upstream lost' } },
  ];

  it.each(FAILED)('is left to the next server if nothing was said before: %j', async (end) => {
    const firsts = [
      eventOf({ delta: {}, ...end }),
      ROLE + eventOf({ delta: { content: '' }, ...end }) + DONE,
      `data: {"choices":[]}\n\n: hi\n\n${ROLE}${ROLE}${eventOf(end)}`,
      JSON.stringify({ choices: [{ index: 0, message: { content: 'hi' }, ...end }] }),
    ];
    for (const first of firsts) {
      const { stream } = await given(streaming(first), streaming(CHUNK + DONE));
      const answer = await stream();
      expect(answer.retries).toBe(1);
      expect(await collect(answer)).toBe(CHUNK + DONE);
    }
    const failed = { choices: [{ index: 0, message: { content: 'half' }, ...end }] };
    const { complete } = await given(replying(failed), replying(ANSWER));
    expect(await complete()).toMatchObject({ retries: 1, body: JSON.stringify(ANSWER) });
  });

  it('is passed on after the first piece', async () => {
    const text = ROLE + CHUNK + eventOf({ delta: {}, finish_reason: 'abort' }) + DONE;
    const { stream } = await given(streaming(text), streaming(CHUNK + DONE));
    expect(await collect(await stream())).toBe(text);
  });

  it('has the status of its error', async () => {
    const error = { code: 429, message: 'slow down' };
    const { stream } = await given(streaming(eventOf({ delta: {}, finish_reason: 'error', error })));
    await expect(stream()).rejects.toMatchObject({ code: 'MODEL_AT_CAPACITY' });
  });

  it('is not assumed from a text that looks like one', async () => {
    const content = '"finish_reason": "abort", "error": {"message": "no"}';
    const body = { choices: [{ index: 0, message: { content }, finish_reason: 'stop' }] };
    const { complete } = await given(replying(body));
    expect((await complete()).body).toBe(JSON.stringify(body));
  });
});

describe('an error beside choices', () => {
  it.each([{}, '', { message: '', code: null }, { error: {} }])(
    'is ignored if it is empty: %j',
    async (error) => {
      const chunk = eventOf({ delta: { content: 'hi' } }, { error });
      expect(await collect(await (await given(streaming(chunk + DONE))).stream())).toBe(chunk + DONE);
      const { complete } = await given(replying({ ...ANSWER, error }));
      expect((await complete()).body).toContain('"hi"');
    },
  );

  it('is left to the next server in the first event of a stream', async () => {
    const first = eventOf({ delta: {} }, { error: { code: 503 } });
    const { stream } = await given(streaming(first), streaming(CHUNK + DONE));
    expect(await collect(await stream())).toBe(CHUNK + DONE);
  });
});

describe('a response to a request for a stream', () => {
  it.each(['', '\ufeff', ' \n'])('may be a completion in one piece, after %j', async (before) => {
    const text = `${before}${JSON.stringify(ANSWER, null, 2)}`;
    const { stream } = await given((response) => void response.end(text));
    expect(await collect(await stream())).toBe(text);
  });

  it('is left to the next server if it is some other document', async () => {
    const { stream } = await given(replying({ created: 1 }), streaming(CHUNK + DONE));
    expect(await collect(await stream())).toBe(CHUNK + DONE);
  });

  it('that is too long to say nothing is passed on', async () => {
    const text = ROLE.repeat(2_000) + CHUNK + DONE;
    const { stream } = await given(streaming(text));
    expect(await collect(await stream())).toBe(text);
  });
});

describe('a server that never says anything', () => {
  const quick = new RouterFixture((catalog) => quickRouter(catalog));

  it('ends its stream in time', async () => {
    await quick.given((response) => void response.write(ROLE));
    const stream = (): Promise<ChunkStream> => quick.router.stream(CALL, new AbortController().signal);
    await expect(stream()).rejects.toThrow(Problem);
    await expect(stream()).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
  });
});

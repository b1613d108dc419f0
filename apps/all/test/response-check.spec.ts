import { describe, expect, it } from 'vitest';
import { ResponseCheck } from './response-check.js';

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-svc-version': '20260101.000000',
};

const ofPath = (path: string, response: Response): Response =>
  Object.defineProperty(response, 'url', { value: `http://127.0.0.1:1/api/v1${path}` });

/** What is found in a response, apart from the headers that it lacks. */
async function foundIn(path: string, response: Response): Promise<string[]> {
  const check = new ResponseCheck();
  await check.look('POST', ofPath(path, response)).text();
  const faults = await check.faults();
  return faults.filter((fault) => !fault.includes('lacks the header'));
}

/** What is found in a stream that comes byte by byte. */
function inStream(path: string, text: string): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const body = ReadableStream.from(Array.from(bytes, (byte) => new Uint8Array([byte])));
  return foundIn(path, new Response(body, { headers: HEADERS }));
}

const CHAT = '/chat/completions';
const RESPONSES = '/responses';
const MESSAGES = '/messages';
const DONE = 'data: [DONE]\n\n';

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { readonly type: string }, name = value.type): string =>
  `event: ${name}\n${event(value)}`;

const chunk = (delta: object): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
});
const SAID = event(chunk({ role: 'assistant', content: 'Füße' }));
const SEARCHES = {
  type: 'response.web_search_call.searching',
  sequence_number: 3,
  item_id: 'i',
  output_index: 0,
};
const UNNUMBERED = { ...SEARCHES, sequence_number: undefined };

describe('the check of responses', () => {
  it('finds nothing in streams as they are described', async () => {
    const error = { message: 'm', type: 'api_error', param: null, code: 'INFERENCE_FAILED', retry_after: 1 };
    expect(await inStream(CHAT, `: keep-alive\n\n${SAID}${event({ error })}${DONE}`)).toEqual([]);
    expect(await inStream(RESPONSES, `${named(SEARCHES)}: keep-alive\n\n${DONE}`)).toEqual([]);
    expect(await inStream(MESSAGES, named({ type: 'ping' }) + named({ type: 'message_stop' }))).toEqual([]);
  });

  it.each([
    [
      'an undescribed chunk',
      SAID + event(chunk({ content: 5 })) + DONE,
      'choices/0/delta/content must be string,null',
    ],
    [
      'an error without its code',
      event({ error: { message: 'm', type: 'api_error', param: null } }) + DONE,
      "/error must have required property 'code'",
    ],
    ['an event that is not JSON', `data: {"id"\n\n${DONE}`, 'event is not JSON'],
    ['an event with a name', `event: chunk\n${SAID}${DONE}`, 'event has the name chunk'],
    ['an event with an id', `id: 1\n${SAID}${DONE}`, 'event has an id'],
    ['an event after the mark of the end', SAID + DONE + SAID, 'stream goes on after [DONE]'],
    ['a second mark of the end', SAID + DONE + DONE, 'stream goes on after [DONE]'],
    ['no mark of the end', SAID, 'stream ends without [DONE]'],
    ['an event without an end', SAID + DONE.trimEnd(), 'stream ends within an event'],
    ['another comment', `: hello\n\n${SAID}${DONE}`, 'stream has the comment hello'],
    ['a time to reconnect', `retry: 5\n\n${SAID}${DONE}`, 'stream has a time to reconnect'],
    ['a line that is no field', `datum: 5\n${SAID}${DONE}`, 'Unknown field "datum"'],
  ])('finds %s in a stream of chunks', async (_, text, fault) => {
    expect((await inStream(CHAT, text)).join('\n')).toContain(fault);
  });

  it.each([
    [
      'an event with the name of another',
      named(SEARCHES, 'response.completed') + DONE,
      'has the name response.completed',
    ],
    ['an event without a name', event(SEARCHES) + DONE, '.searching has the name undefined'],
    ['an event without a number', named(UNNUMBERED) + DONE, "property 'sequence_number'"],
    [
      'a mark of the end with a name',
      `${named(SEARCHES)}event: done\n${DONE}`,
      'the mark of the end has the name done',
    ],
    ['no mark of the end', named(SEARCHES), 'stream ends without [DONE]'],
  ])('finds %s in a stream of a response', async (_, text, fault) => {
    expect((await inStream(RESPONSES, text)).join('\n')).toContain(fault);
  });

  it.each([
    ['an event of an unknown type', named({ type: 'pong' }), 'body/type must be equal to constant'],
    ['a mark of the end', named({ type: 'ping' }) + DONE, "property 'event'"],
  ])('finds %s in a stream of a message', async (_, text, fault) => {
    expect((await inStream(MESSAGES, text)).join('\n')).toContain(fault);
  });

  it('finds bodies that are not as described', async () => {
    const answer = (body: string, type: string) =>
      foundIn(CHAT, new Response(body, { headers: { ...HEADERS, 'content-type': type } }));
    expect((await answer('{}', 'Application/JSON ;charset=utf-8')).join('\n')).toContain("property 'id'");
    expect((await answer('{', 'application/json')).join('\n')).toContain('body is not JSON');
    expect((await answer('{}', 'application/jsonl')).join('\n')).toContain('has the type application/jsonl');
  });

  it('finds a page where nothing is offered', async () => {
    const headers = { ...HEADERS, 'content-type': 'text/html' };
    const found = await foundIn('/nothing', new Response('<p>', { status: 404, headers }));
    expect(found).toEqual(['POST /api/v1/nothing: 404 has the type text/html']);
  });
});

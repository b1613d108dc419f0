// Runs before every file of end-to-end tests: validates each response, with its status, headers, body and
// stream events, against the published descriptions.
import assert from 'node:assert/strict';
import { createParser } from 'eventsource-parser';
import { afterAll } from 'vitest';
import { NOT_OFFERED_MEDIA, descriptionOf, eventSchemaOf, mediaOf } from './description.js';

const faults = new Set<string>();
const underWay = new Set<Promise<void>>();

/** Records the violations of a response. A stream is returned as one that is validated while it is read. */
function look(method: string, response: Response): Response {
  const url = new URL(response.url);
  const description = response.headers.has('x-svc-version') ? descriptionOf(url.pathname) : undefined;
  if (!description || method === 'OPTIONS') return response;
  const note = (found: readonly string[]): void => {
    for (const fault of found) faults.add(`${method} ${url.pathname}: ${response.status} ${fault}`);
  };
  const answer = description.find(method, url, response.status);
  if (answer === 'nothing') {
    note(['is not described']);
    return response;
  }
  if (answer !== 'not offered') note(description.headerFaults(answer, response));
  if (response.status === 204) return response;
  const type = response.headers.get('content-type') ?? '';
  const media = answer === 'not offered' ? NOT_OFFERED_MEDIA : mediaOf(answer, type);
  if (!media) {
    note([`has the type ${type}`]);
    return response;
  }
  if (type === 'text/event-stream')
    return eachEvent(response, (data) =>
      note(description.bodyFaults(eventSchemaOf(media), JSON.parse(data))),
    );
  if (type.startsWith('application/json'))
    readBeside(response, (value) => note(description.bodyFaults(media.schema, value)));
  return response;
}

function readBeside(response: Response, see: (value: unknown) => void): void {
  const looking = response
    .clone()
    .json()
    .then(see)
    // A test may cut off its response.
    .catch(() => undefined)
    .finally(() => underWay.delete(looking));
  underWay.add(looking);
}

/** The same response, validated chunk by chunk when its reader takes it, and not before. */
function eachEvent(response: Response, see: (data: string) => void): Response {
  if (!response.body) return response;
  const parser = createParser({ onEvent: ({ data }) => data !== '[DONE]' && see(data) });
  const decoder = new TextDecoder();
  const passing = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, controller) => {
      parser.feed(decoder.decode(bytes, { stream: true }));
      controller.enqueue(bytes);
    },
  });
  const looked = new Response(response.body.pipeThrough(passing), response);
  return Object.defineProperty(looked, 'url', { value: response.url });
}

const { fetch: ask } = globalThis;
globalThis.fetch = async (input, init) => {
  const response = await ask(input, init);
  return look(init?.method ?? (input instanceof Request ? input.method : 'GET'), response);
};

afterAll(async () => {
  // The next file of this worker installs it again.
  globalThis.fetch = ask;
  await Promise.all(underWay);
  assert.deepEqual([...faults].toSorted(), []);
});

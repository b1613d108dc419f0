// A backend without work: returns the fixed response at once, or a stream: below `/short` at once, elsewhere
// at a steady pace, with as many chunks of text as the first argument says. With `hold` as the second one,
// streams stay open after the first half of them, until it gets a message. Sends its URL to its parent
// process, and exits with it.
import { createServer } from 'node:http';
import {
  SHORT_PATH,
  STREAM_PACE_MS,
  TEXT_CHUNKS,
  completion,
  shortStream,
  streamEvents,
} from '../responses.mjs';

const wholeHeaders = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(completion) };
const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Without the hint that this server keeps connections for minutes, gateways use their own time limit.
  connection: 'keep-alive',
};
const [, , texts = TEXT_CHUNKS, hold] = process.argv;
const chunks = streamEvents(Number(texts)).map((event) => Buffer.from(event));
const heldAt = hold === 'hold' ? chunks.length >> 1 : undefined;
/** Continues each open stream. */
const held = new Set();

const server = createServer({ keepAliveTimeout: 300_000 }, (request, response) => {
  const body = [];
  request.on('data', (data) => body.push(data));
  request.on('end', () => answer(request, Buffer.concat(body), response));
});

function answer({ url }, body, response) {
  if (!/"stream":\s*true/.test(body.toString('latin1'))) {
    response.writeHead(200, wholeHeaders).end(completion);
    return;
  }
  response.writeHead(200, streamHeaders);
  if (url.startsWith(SHORT_PATH)) return void response.end(shortStream);
  let next = 0;
  let timer;
  const run = (until) => {
    timer = setInterval(() => {
      if (next < until) return void response.write(chunks[next++]);
      clearInterval(timer);
      if (next === chunks.length) response.end();
      else held.add(finish);
    }, STREAM_PACE_MS);
  };
  const finish = () => run(chunks.length);
  run(heldAt ?? chunks.length);
  response.once('close', () => {
    clearInterval(timer);
    held.delete(finish);
  });
}

/** Streams that continue together, so that not all of them end in the same moment. */
const GROUP = 200;

process.on('message', () => {
  const timer = setInterval(() => {
    const group = [...held].slice(0, GROUP);
    for (const finish of group) {
      held.delete(finish);
      finish();
    }
    if (held.size === 0) clearInterval(timer);
  }, 50);
});

server.listen(0, '127.0.0.1', () => {
  process.send({ url: `http://127.0.0.1:${server.address().port}` });
});
process.once('disconnect', () => process.exit());

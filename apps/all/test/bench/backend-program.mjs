// A backend without work: returns the fixed response at once, or its stream at a steady pace. With a number
// of chunks as its argument, its streams stay open after the first half of them, until it gets a message.
// Sends its URL to its parent process, and exits with it.
import { createServer } from 'node:http';
import { STREAM_PACE_MS, completion, events, streamEvents } from './responses.mjs';

const wholeHeaders = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(completion) };
const streamHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
const heldTexts = Number(process.argv[2] ?? 0);
const chunks = (heldTexts > 0 ? streamEvents(heldTexts) : events).map((event) => Buffer.from(event));
const heldAt = heldTexts > 0 ? chunks.length >> 1 : undefined;
/** Continues each open stream. */
const held = new Set();

const server = createServer({ keepAliveTimeout: 300_000 }, (request, response) => {
  const body = [];
  request.on('data', (data) => body.push(data));
  request.on('end', () => answer(Buffer.concat(body), response));
});

function answer(body, response) {
  if (!/"stream":\s*true/.test(body.toString('latin1'))) {
    response.writeHead(200, wholeHeaders).end(completion);
    return;
  }
  response.writeHead(200, streamHeaders);
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

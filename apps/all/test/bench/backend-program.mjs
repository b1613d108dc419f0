// A backend without work: returns the fixed response at once, or its stream at a steady pace.
// Sends its URL to its parent process, and exits with it.
import { createServer } from 'node:http';
import { STREAM_PACE_MS, completion, events } from './answers.mjs';

const wholeHeaders = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(completion) };
const streamHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
const chunks = events.map((event) => Buffer.from(event));

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
  const timer = setInterval(() => {
    if (next < chunks.length) return void response.write(chunks[next++]);
    clearInterval(timer);
    response.end();
  }, STREAM_PACE_MS);
  response.once('close', () => clearInterval(timer));
}

server.listen(0, '127.0.0.1', () => {
  process.send({ url: `http://127.0.0.1:${server.address().port}` });
});
process.once('disconnect', () => process.exit());

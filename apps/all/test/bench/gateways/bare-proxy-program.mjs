// The minimum of a gateway on Fastify and undici: forwards the body, and returns the response.
// Argument: the backend's URL. Sends its own URL to its parent process, and exits with it.
import Fastify from 'fastify';
import { Pool } from 'undici';

const backend = new Pool(process.argv[2], { connections: 256, pipelining: 1 });
const headers = { 'content-type': 'application/json' };

const app = Fastify({ logger: false, keepAliveTimeout: 300_000 });
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post('*', async (request, reply) => {
  const body = /** @type {Buffer} */ (request.body);
  const answer = await backend.request({ method: 'POST', path: request.url, headers, body });
  const type = answer.headers['content-type'];
  reply.code(answer.statusCode).header('content-type', type);
  // Buffering a short response takes two thirds of the CPU of piping it, and this is the minimum to compare
  // with.
  if (type === 'application/json') return reply.send(Buffer.from(await answer.body.arrayBuffer()));
  return reply.send(answer.body);
});

app.listen({ port: 0, host: '127.0.0.1' }, (error, url) => {
  if (error) throw error;
  process.send({ url });
});
process.once('disconnect', () => process.exit());

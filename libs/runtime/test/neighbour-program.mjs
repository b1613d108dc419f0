// A neighbour in a process of its own, for tests that stop it by a signal. Answers with its number, but never on /silent.
import { createServer } from 'node:http';

const server = createServer(({ url }, response) => {
  if (url !== '/silent') response.end(String(process.pid));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`listens on ${server.address().port}\n`));

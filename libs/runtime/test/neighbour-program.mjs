// A neighbour as a separate process, which tests stop by signals. Responds with its pid, except on /silent.
import { createServer } from 'node:http';

const server = createServer(({ url }, response) => {
  if (url !== '/silent') response.end(String(process.pid));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`listens on ${server.address().port}\n`));

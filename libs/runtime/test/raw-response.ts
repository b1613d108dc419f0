import { once } from 'node:events';
import { connect } from 'node:net';

/** Everything that a server sends for raw bytes until the connection is closed. */
export async function rawResponse(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (data) => (text += data.toString()));
  socket.on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

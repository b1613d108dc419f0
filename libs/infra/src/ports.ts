import { connect } from 'node:net';

const HOST = '127.0.0.1';
const CONNECT_MS = 1_000;

/**
 * Whether the listener at the port gives the expected response, or without an exchange, whether one exists.
 */
export function responds(port: number, exchange?: { text: string; response: string }): Promise<boolean> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, HOST);
    const end = (good: boolean): void => {
      socket.destroy();
      resolve(good);
    };
    socket.setTimeout(CONNECT_MS, () => end(false));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
    socket.once('connect', () => (exchange ? socket.write(exchange.text) : end(true)));
    socket.on('data', (data) => {
      received += data.toString('latin1');
      if (exchange && received.includes(exchange.response)) end(true);
    });
  });
}

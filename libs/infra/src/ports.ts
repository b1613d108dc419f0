import { type AddressInfo, connect, createServer } from 'node:net';

const HOST = '127.0.0.1';
const CONNECT_MS = 1_000;

/** The wanted port if it is free, or else one that was free a moment ago. */
export async function freePort(wanted?: number): Promise<number> {
  const taken = wanted === undefined ? undefined : await bind(wanted).catch(() => undefined);
  return taken ?? bind(0);
}

function bind(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, HOST, () => {
      const { port: bound } = server.address() as AddressInfo;
      server.close(() => resolve(bound));
    });
  });
}

/**
 * Whether the listener at the port gives the expected response; without a question, whether anything listens.
 */
export function answers(port: number, question?: { text: string; answer: string }): Promise<boolean> {
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect(port, HOST);
    const end = (good: boolean): void => {
      socket.destroy();
      resolve(good);
    };
    socket.setTimeout(CONNECT_MS, () => end(false));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
    socket.once('connect', () => (question ? socket.write(question.text) : end(true)));
    socket.on('data', (data) => {
      heard += data.toString('latin1');
      if (question && heard.includes(question.answer)) end(true);
    });
  });
}

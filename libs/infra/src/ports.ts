import { connect } from 'node:net';

const HOST = '127.0.0.1';
const CONNECT_MS = 1_000;

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

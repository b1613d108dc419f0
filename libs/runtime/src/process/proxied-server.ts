import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { readProxyHeader } from './proxy-header.js';

/** Deadline for the header, which a proxy sends as soon as it is connected. */
const HEADER_MS = 5_000;

type Accept = (socket: Socket) => void;

/**
 * Makes a server require a PROXY header at the beginning of each connection and take the client's address
 * from it. Any other connection is closed. Anyone who can connect can claim any address, so only proxies may
 * reach such a server.
 */
export function requireProxyHeader(server: Server): void {
  const listeners = server.listeners('connection') as Accept[];
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    awaitHeader(socket, () => listeners.forEach((accept) => accept.call(server, socket)));
  });
}

function awaitHeader(socket: Socket, accept: () => void): void {
  const destroy = (): void => void socket.destroy();
  const deadline = setTimeout(destroy, HEADER_MS);
  let received = Buffer.alloc(0);
  const receive = (bytes: Buffer): void => {
    // The reader throws beyond the longest header, so at most one more chunk is kept.
    received = Buffer.concat([received, bytes]);
    let header;
    try {
      header = readProxyHeader(received);
    } catch {
      destroy();
    }
    if (!header) return;
    clearTimeout(deadline);
    socket.off('data', receive).off('end', destroy).off('error', destroy).pause();
    const remoteAddress = header.address ?? socket.remoteAddress ?? 'unknown';
    Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
    if (received.length > header.bytes) socket.unshift(received.subarray(header.bytes));
    accept();
    socket.resume();
  };
  socket.once('close', () => clearTimeout(deadline));
  socket.on('data', receive).on('end', destroy).on('error', destroy);
}

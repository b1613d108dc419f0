import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

/** A request whose body is sent byte by byte, with the server's response. */
export class RawRequest {
  private static readonly sockets: Socket[] = [];
  private received = '';
  readonly closed: Promise<unknown>;

  private constructor(readonly socket: Socket) {
    socket.on('data', (data) => (this.received += data.toString()));
    socket.on('error', () => undefined);
    // `once` would reject on a reset.
    this.closed = new Promise((resolve) => socket.once('close', resolve));
  }

  static async post(url: string, path: string, headers: Record<string, string>): Promise<RawRequest> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    RawRequest.sockets.push(socket);
    await once(socket, 'connect');
    const request = new RawRequest(socket);
    const lines = Object.entries({ host: 'x', 'content-type': 'application/json', ...headers });
    socket.write(
      `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    );
    return request;
  }

  static closeAll(): void {
    for (const socket of RawRequest.sockets.splice(0)) socket.destroy();
  }

  /** The body of the response, which has a length. */
  async json(): Promise<unknown> {
    const length = Number(/content-length: (\d+)/i.exec((await this.response()).head)?.[1]);
    const body = (): string => this.received.slice(this.received.indexOf('\r\n\r\n') + 4);
    while (body().length < length) await once(this.socket, 'data');
    return JSON.parse(body());
  }

  /** The status and headers of the response, once there is one. */
  async response(): Promise<{ status: number; head: string }> {
    while (!this.received.includes('\r\n\r\n')) {
      const ended = await Promise.race([once(this.socket, 'data'), this.closed.then(() => undefined)]);
      if (ended === undefined && !this.received.includes('\r\n\r\n'))
        throw new Error('closed without an answer');
    }
    return { status: Number(this.received.split(' ')[1]), head: this.received.split('\r\n\r\n')[0] ?? '' };
  }
}

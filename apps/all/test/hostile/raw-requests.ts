import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

/** Raw requests that no HTTP client would send. */
export class RawRequest {
  private received = '';

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => (this.received += text));
    // Some tests make the service cut connections.
    socket.on('error', () => undefined);
  }

  static async open(url: string): Promise<RawRequest> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new RawRequest(socket);
  }

  write(bytes: string | Buffer): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  /** The status of the response, once its head has arrived; 0 if the connection ends before. */
  async status(): Promise<number> {
    while (!this.received.includes('\r\n\r\n') && !this.socket.closed)
      await new Promise<unknown>((resolve) => {
        this.socket.once('data', resolve);
        this.socket.once('close', resolve);
      });
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.received)?.[1] ?? 0);
  }

  /** The full response, once the connection has ended. */
  async response(): Promise<string> {
    if (!this.socket.closed) await new Promise<unknown>((resolve) => this.socket.once('close', resolve));
    return this.received;
  }

  close(): void {
    this.socket.destroy();
  }
}

/** The response to a request target that is sent as given; the connection ends with the response. */
export async function answerTo(
  url: string,
  {
    method = 'GET',
    target,
    headers = {},
    body = '',
  }: { method?: string; target: string; headers?: object; body?: string },
): Promise<string> {
  const request = await RawRequest.open(url);
  const all = {
    host: new URL(url).host,
    connection: 'close',
    'content-length': Buffer.byteLength(body),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${String(value)}`);
  request.write(
    Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1'),
  );
  return request.response();
}

import { once } from 'node:events';
import { type RequestListener, type Server, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { LocalIdentity } from './local-identity.js';

/** An HTTP server for one test, at a free port of this machine. */
export class TestServer {
  private constructor(
    private readonly server: Server,
    private readonly origin = 'http://127.0.0.1',
  ) {}

  static async start(listener: RequestListener, host = '127.0.0.1'): Promise<TestServer> {
    const server = createServer(listener).listen(0, host);
    await once(server, 'listening');
    return new TestServer(server);
  }

  /** A server over TLS, with `localhost` in its URL. */
  static async startTls(listener: RequestListener, { key, cert }: LocalIdentity): Promise<TestServer> {
    const server = createTlsServer({ key, cert }, listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestServer(server, 'https://localhost');
  }

  /** Without a path. */
  get url(): string {
    return `${this.origin}:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ends the connections too, whatever their state. */
  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

import { once } from 'node:events';
import { type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server for one test, at a free port of this machine. */
export class TestServer {
  private constructor(private readonly server: Server) {}

  static async start(listener: RequestListener, host = '127.0.0.1'): Promise<TestServer> {
    const server = createServer(listener).listen(0, host);
    await once(server, 'listening');
    return new TestServer(server);
  }

  /** Without a path. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ends the connections too, whatever their state. */
  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { TestServer } from '@svc/testing';
import { forwarded } from './forwarded.js';

/** What `fetch` has decoded or Node writes itself. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'content-length',
  'content-encoding',
  'transfer-encoding',
]);

/** Passes requests on to a platform, and counts them and the credits of their responses. */
export class CountingProxy {
  requests = 0;
  credits = 0;

  private constructor(private readonly server: TestServer) {}

  static async start(target: string): Promise<CountingProxy> {
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const received = await forwarded(target, request);
      proxy.requests += 1;
      proxy.credits += Number(received.headers.get('x-svc-rpc-credits') ?? 0);
      const headers = Object.fromEntries(
        [...received.headers].filter(([name]) => !OF_THE_CONNECTION.has(name)),
      );
      response.writeHead(received.status, headers).end(await received.text());
    };
    const server = await TestServer.start((request, response) => void respond(request, response));
    const proxy = new CountingProxy(server);
    return proxy;
  }

  /** Without a path. */
  get url(): string {
    return this.server.url;
  }

  stop(): Promise<void> {
    return this.server.close();
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { TestServer } from '@svc/testing';

/** Headers about the connection rather than the message. */
const OF_THE_CONNECTION = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'content-encoding',
  'transfer-encoding',
]);

const passedOn = (headers: Iterable<[string, string]>): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !OF_THE_CONNECTION.has(name)));

/** Passes requests on to a platform, and counts them and the credits of their responses. */
export class CountingProxy {
  requests = 0;
  credits = 0;

  private constructor(private readonly server: TestServer) {}

  static async start(target: string): Promise<CountingProxy> {
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { method = 'GET', url = '', headers } = request;
      const body = method === 'GET' ? undefined : new Uint8Array(await buffer(request));
      const answered = await fetch(target + url, {
        method,
        headers: passedOn(new Headers(headers as Record<string, string>)),
        ...(body && { body }),
      });
      proxy.requests += 1;
      proxy.credits += Number(answered.headers.get('x-svc-rpc-credits') ?? 0);
      response.writeHead(answered.status, passedOn(answered.headers)).end(await answered.text());
    };
    const server = await TestServer.start((request, response) => void answer(request, response));
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

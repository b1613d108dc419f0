import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { TestServer } from '@svc/testing';

/** Changes the events of a stream, each with its `data: `. */
type Tampering = (events: readonly string[]) => readonly string[];

const NOTHING: Tampering = (events) => events;

/** A server between the platform and an enclave, which can change streamed responses. */
export class TamperingProxy {
  tampering: Tampering = NOTHING;

  private constructor(private readonly server: TestServer) {}

  static async start(target: string): Promise<TamperingProxy> {
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { method = 'GET', url = '', headers } = request;
      const body = method === 'GET' ? undefined : await buffer(request);
      const { host: _, 'content-length': __, 'transfer-encoding': ___, ...others } = headers;
      const answered = await fetch(target + url, {
        method,
        headers: others as Record<string, string>,
        ...(body && { body: new Uint8Array(body) }),
      });
      const type = answered.headers.get('content-type') ?? '';
      const whole = await answered.text();
      const changed = type.startsWith('text/event-stream')
        ? proxy.tampering(whole.split('\n\n').filter((event) => event !== '')).join('\n\n') + '\n\n'
        : whole;
      response.writeHead(answered.status, { 'content-type': type }).end(changed);
    };
    const server = await TestServer.start((request, response) => void answer(request, response));
    const proxy = new TamperingProxy(server);
    return proxy;
  }

  /** Without a path. */
  get url(): string {
    return this.server.url;
  }

  /** Changes the events of the streams during some work. */
  async during<Result>(tampering: Tampering, work: () => Promise<Result>): Promise<Result> {
    this.tampering = tampering;
    try {
      return await work();
    } finally {
      this.tampering = NOTHING;
    }
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { TestServer } from '@svc/testing';
import { forwarded } from './forwarded.js';

/** Changes the events of a stream, each with its `data: `. */
type Tampering = (events: readonly string[]) => readonly string[];

const NOTHING: Tampering = (events) => events;

/** A server between the platform and an enclave, which can change streamed responses. */
export class TamperingProxy {
  tampering: Tampering = NOTHING;

  private constructor(private readonly server: TestServer) {}

  static async start(target: string): Promise<TamperingProxy> {
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const received = await forwarded(target, request);
      const type = received.headers.get('content-type') ?? '';
      const whole = await received.text();
      const changed = type.startsWith('text/event-stream')
        ? proxy.tampering(whole.split('\n\n').filter((event) => event !== '')).join('\n\n') + '\n\n'
        : whole;
      response.writeHead(received.status, { 'content-type': type }).end(changed);
    };
    const server = await TestServer.start((request, response) => void respond(request, response));
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

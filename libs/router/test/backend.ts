import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type LocalIdentity, TestServer } from '@svc/testing';

/** A request that the backend received. */
export interface BackendRequest {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Reply = (response: ServerResponse, request: BackendRequest) => void | Promise<void>;

/** A server that responds as a test directs. */
export class TestBackend {
  readonly requests: BackendRequest[] = [];
  /** The checks of its health, which are not among the requests, and the response to them. */
  checks = 0;
  check: Reply = replying({ data: [] });
  /** Responses whose connection ended too early. */
  cut = 0;

  private constructor(
    private readonly server: TestServer,
    public reply: Reply,
  ) {}

  /** Over TLS with an identity. */
  static async start(reply: Reply, identity?: LocalIdentity): Promise<TestBackend> {
    const listener: RequestListener = (request, response) => void backend.answer(request, response);
    const server = await (identity ? TestServer.startTls(listener, identity) : TestServer.start(listener));
    const backend = new TestBackend(server, reply);
    return backend;
  }

  /** The base URL of its API. */
  get url(): string {
    return `${this.server.url}/v1`;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.once('close', () => {
      if (!response.writableFinished) this.cut += 1;
    });
    const body = await text(request).catch(() => '');
    const received = { url: request.url ?? '', headers: request.headers, body };
    if (request.method === 'GET' && received.url === '/v1/models') {
      this.checks += 1;
      await this.check(response, received);
      return;
    }
    this.requests.push(received);
    await this.reply(response, received);
  }
}

/** Responds with a stream of this text. */
export function streaming(body: string): Reply {
  return (response) => void response.setHeader('content-type', 'text/event-stream').end(body);
}

/** Responds with this body. */
export function replying(body: object, status = 200): Reply {
  return (response) => {
    response.statusCode = status;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  };
}

/** Never responds. */
export const silent: Reply = () => undefined;

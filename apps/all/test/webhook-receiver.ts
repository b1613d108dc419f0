import { once } from 'node:events';
import { type IncomingHttpHeaders, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A delivery as received. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const TEN_MB = Buffer.alloc(10_000_000, 'x');

/** A customer's server. Paths say how it responds. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  private failures = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on('request', (request, response) => {
      text(request).then(
        (body) => {
          const { url: path = '', headers } = request;
          receiver.received.push({ path, headers, body });
          receiver.respond(path, response);
        },
        () => undefined,
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  /** Those received at a path, of one type if given. */
  at(path: string, type?: string): Received[] {
    const isMeant = ({ body }: Received): boolean => type === undefined || body.includes(`"type":"${type}"`);
    return this.received.filter((each) => each.path === path && isMeant(each));
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private respond(path: string, response: ServerResponse): void {
    if (path.startsWith('/hang')) return;
    if (path.startsWith('/redirect')) response.writeHead(307, { location: `${this.url}/target` }).end();
    else if (path.startsWith('/large')) response.end(TEN_MB);
    else if (path.startsWith('/gone')) response.writeHead(410).end();
    else if (path.startsWith('/once')) {
      this.failures += 1;
      response.writeHead(this.failures === 1 ? 500 : 204).end();
    } else response.writeHead(204).end();
  }
}

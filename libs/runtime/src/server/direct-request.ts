import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { RouteDefinition } from '@svc/api/route';
import proxyAddr from '@fastify/proxy-addr';
import type { Incoming } from '../http/incoming.js';
import { newId } from '../http/request-id.js';
import type { RequestRecord } from '../http/request-record.js';
import type { TracedRequest } from '../http/request-trace.js';
import type { JsonText } from '../json/json-text.js';

/** Whether an address is that of a proxy whose headers are trusted. */
export type Trusts = (address: string, hop: number) => boolean;

/** The proxies at these addresses. They are read as Fastify reads them. */
export const trusting = (addresses: readonly string[]): Trusts => proxyAddr.compile([...addresses]);

/** The first stage gives each request a record of its own. */
const NOT_BEGUN: RequestRecord = { startedMs: 0 };

/** A request of a direct route, with the members that Fastify's have. */
export class DirectRequest implements Incoming {
  id = newId();
  params: unknown = {};
  query: unknown = {};
  body: unknown = undefined;
  record = NOT_BEGUN;
  bodyJson: JsonText | null = null;
  bodyStream: AsyncIterable<Buffer> | undefined = undefined;
  operatorSide = false;
  traced: TracedRequest | undefined = undefined;
  matchedRoute: RouteDefinition | undefined;

  constructor(
    readonly raw: IncomingMessage,
    private readonly trusts: Trusts | undefined,
  ) {}

  get headers(): IncomingHttpHeaders {
    return this.raw.headers;
  }

  get method(): string {
    return this.raw.method ?? '';
  }

  get url(): string {
    return this.raw.url ?? '';
  }

  get socket(): Socket {
    return this.raw.socket;
  }

  get ip(): string {
    const { trusts, socket } = this;
    if (!trusts) return socket.remoteAddress as string;
    return proxyAddr.all(this.raw, trusts).at(-1) as string;
  }

  get host(): string {
    return this.forwarded('x-forwarded-host') ?? this.headers.host ?? '';
  }

  get protocol(): 'http' | 'https' {
    return (this.forwarded('x-forwarded-proto') ?? 'http') as 'http' | 'https';
  }

  /** The last value of a proxy's header, if the connection comes from a trusted one. */
  private forwarded(name: string): string | undefined {
    const { [name]: value } = this.headers;
    const { remoteAddress = '' } = this.socket;
    if (!this.trusts || typeof value !== 'string' || value === '' || !this.trusts(remoteAddress, 0))
      return undefined;
    return value.slice(value.lastIndexOf(',') + 1).trim();
  }
}

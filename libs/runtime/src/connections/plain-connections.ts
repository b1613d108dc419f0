import { type Dispatcher, errors } from 'undici';
import { type ConnectionPlace, PlainConnection, type PlainRequest } from './plain-connection.js';
import { PassingSet } from '../passing.js';
import { WaitingRequest } from './waiting-request.js';

interface Options extends Pick<ConnectionPlace, 'connectTimeoutMs' | 'keepAliveMs' | 'failed'> {
  /** The most connections to one server; further requests wait for one in their order. Default: no bound. */
  readonly most?: number | undefined;
  /** How long a connection takes requests. Default: as long as it is used. */
  readonly longestMs?: number | undefined;
}

/** The most requests that wait for a connection to one server; further ones are refused. */
const MOST_WAITING = 20_000;

/** The code of the error then. */
export const TOO_MANY_WAIT = 'ERR_TOO_MANY_WAIT';

/** How often connections that have been free for too long are looked for. */
const SWEEP_MS = 1_000;

const HTTP_PORT = 80;

/** What would end a line, or the target, for the other side. */
const NOT_IN_TARGET = /[^\x21-\x7e]/;
const NOT_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/;
const NAME = /^[\w!#$%&'*+\-.^`|~]+$/;

/** Methods whose responses end otherwise than their heads say (RFC 9112, section 6.3). */
const OTHER_ENDS = new Set(['HEAD', 'CONNECT']);

/** The connections to one server. */
interface Server {
  readonly origin: string;
  readonly place: ConnectionPlace;
  /** Each line of a request's head that is always the same. */
  readonly lines: string;
  /** The one that was used last comes last. */
  readonly idle: PlainConnection[];
  readonly open: Set<PlainConnection>;
  /** In the order in which they came; none while there is an idle connection, or one may be opened. */
  readonly waiting: PassingSet<WaitingRequest>;
}

/** Kept connections to servers without TLS: each takes one request after another. */
export class PlainConnections {
  private readonly servers = new Map<string, Server>();
  private sweeping: NodeJS.Timeout | undefined;
  private isClosed = false;
  /** Those with a request that this turn of the event loop has made. */
  private unsent: PlainConnection[] = [];
  /**
   * Sends the requests of a turn one right after the other. The other side wakes up once for all of them,
   * which is half of the cost of a request that is sent alone.
   */
  private readonly sendAll = (): void => {
    const connections = this.unsent;
    this.unsent = [];
    for (const connection of connections) connection.write();
  };

  constructor(private readonly options: Options) {}

  /** Whether it can send a request; others are for undici. */
  static takes({ origin, method, body }: Dispatcher.DispatchOptions): boolean {
    if (typeof origin !== 'string' || !origin.startsWith('http:') || OTHER_ENDS.has(method)) return false;
    return body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  }

  /** The requests that wait for a connection. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.servers.values()) count += waiting.size;
    return count;
  }

  /** Sends a request. Throws if a header or the path can't be sent, or if too many requests wait. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (this.isClosed) throw closedError();
    const { method, path, headers, bodyTimeout } = options;
    const body = sendable(options.body as string | Uint8Array | undefined);
    const server = this.serverAt(options.origin as string);
    if (NOT_IN_TARGET.test(path)) throw new TypeError('the path of a request has an invalid character');
    const lines = headerLines(headers as Readonly<Record<string, string>>);
    const length = body === undefined && method === 'GET' ? '' : `content-length: ${body?.length ?? 0}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\n${server.lines}${lines}${length}\r\n`;
    this.send(server, { head, body, pauseMs: bodyTimeout ?? 0, handler });
  }

  /** Ends all connections, and with an error the requests on them and those that wait. */
  close(): void {
    this.isClosed = true;
    clearInterval(this.sweeping);
    for (const { open, waiting } of this.servers.values()) {
      for (const each of waiting) each.fail(closedError());
      for (const connection of open) connection.close();
    }
  }

  /** Gives a request to a connection. If there are as many as there may be, it waits for one. */
  private send(server: Server, request: PlainRequest): void {
    const { waiting } = server;
    const connection = this.idleOf(server) ?? this.opened(server);
    if (connection) this.begin(connection, request);
    else if (waiting.size < MOST_WAITING) new WaitingRequest(request, waiting).begin();
    else throw Object.assign(new Error('too many requests wait for a connection'), { code: TOO_MANY_WAIT });
  }

  private begin(connection: PlainConnection, request: PlainRequest): void {
    connection.begin(request);
    if (this.unsent.push(connection) === 1) setImmediate(this.sendAll);
  }

  private serverAt(origin: string): Server {
    const known = this.servers.get(origin);
    if (known) return known;
    const { hostname, host, port } = new URL(origin);
    const { longestMs = Number.POSITIVE_INFINITY } = this.options;
    const place = {
      ...this.options,
      longestMs,
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? HTTP_PORT : Number(port),
      free: (connection: PlainConnection) => this.free(server, connection),
      gone: (connection: PlainConnection, unsent: PlainRequest | undefined) =>
        this.gone(server, connection, unsent),
    };
    const lines = `host: ${host}\r\nconnection: keep-alive\r\n`;
    const server: Server = { origin, place, lines, idle: [], open: new Set(), waiting: new PassingSet() };
    this.servers.set(origin, server);
    return server;
  }

  private free(server: Server, connection: PlainConnection): void {
    const next = nextOf(server);
    if (next) {
      this.begin(connection, next);
      return;
    }
    server.idle.push(connection);
    this.sweepSoon();
  }

  /** Another connection may be opened, first for the request that this one has not sent. */
  private gone(server: Server, connection: PlainConnection, unsent: PlainRequest | undefined): void {
    const { origin, idle, open } = server;
    open.delete(connection);
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
    if (open.size === 0) this.servers.delete(origin);
    if (this.isClosed) {
      unsent?.handler.onResponseError?.(connection, closedError());
      return;
    }
    const next = unsent ?? nextOf(server);
    if (next) this.send(server, next);
  }

  private idleOf({ idle }: Server): PlainConnection | undefined {
    let connection = idle.pop();
    while (connection && connection.keptUntilMs <= performance.now()) {
      connection.close();
      connection = idle.pop();
    }
    return connection;
  }

  private opened(server: Server): PlainConnection | undefined {
    const { origin, place, open } = server;
    if (open.size >= (this.options.most ?? Number.POSITIVE_INFINITY)) return undefined;
    const connection = new PlainConnection(place);
    open.add(connection);
    // It is not there after the end of its last connection.
    if (open.size === 1) this.servers.set(origin, server);
    return connection;
  }

  private sweepSoon(): void {
    this.sweeping ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  private sweep(): void {
    const nowMs = performance.now();
    let isLeft = false;
    for (const { idle } of this.servers.values()) {
      for (const each of idle.filter(({ keptUntilMs }) => keptUntilMs <= nowMs)) each.close();
      isLeft ||= idle.length > 0;
    }
    if (isLeft) return;
    clearInterval(this.sweeping);
    this.sweeping = undefined;
  }
}

const closedError = (): Error => new errors.ClientDestroyedError('the connections are closed');

/** A body with its size in bytes as its length. */
function sendable(body: string | Uint8Array | undefined): string | Uint8Array | undefined {
  return typeof body === 'string' && Buffer.byteLength(body) !== body.length ? Buffer.from(body) : body;
}

/** Takes the first request of the queue. */
function nextOf({ waiting }: Server): PlainRequest | undefined {
  if (waiting.size === 0) return undefined;
  const [first] = waiting;
  first?.leave();
  return first?.request;
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? '';
    if (NOT_IN_HEADER.test(value) || !NAME.test(name))
      throw new TypeError(`the header ${name} has an invalid character`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

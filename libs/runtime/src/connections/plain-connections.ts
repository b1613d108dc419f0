import type { Dispatcher } from 'undici';
import { type ConnectionPlace, PlainConnection } from './plain-connection.js';

type Options = Pick<ConnectionPlace, 'connectTimeoutMs' | 'keepAliveMs' | 'failed'>;

/** How often connections that have been free for too long are looked for. */
const SWEEP_MS = 1_000;

const HTTP_PORT = 80;

/** What would end a line, or the target, for the other side. */
const NOT_IN_TARGET = /[^\x21-\x7e]/;
const NOT_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/;
const NAME = /^[\w!#$%&'*+\-.^`|~]+$/;

/** The connections to one server. */
interface Server {
  readonly place: ConnectionPlace;
  /** Each line of a request's head that is always the same. */
  readonly lines: string;
  /** The one that was used last comes last. */
  readonly idle: PlainConnection[];
  readonly open: Set<PlainConnection>;
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
  static takes({ origin, body }: Dispatcher.DispatchOptions): boolean {
    if (typeof origin !== 'string' || !origin.startsWith('http:')) return false;
    return body === undefined || body instanceof Uint8Array;
  }

  /** Sends a request. Throws if a header or the path can't be sent. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (this.isClosed) throw new Error('the connections are closed');
    const { method, path, headers, bodyTimeout } = options;
    const body = options.body as Uint8Array | undefined;
    const server = this.serverAt(options.origin as string);
    if (NOT_IN_TARGET.test(path)) throw new TypeError('the path of a request has an invalid character');
    const lines = headerLines(headers as Readonly<Record<string, string>>);
    const length = body === undefined && method === 'GET' ? '' : `content-length: ${body?.length ?? 0}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\n${server.lines}${lines}${length}\r\n`;
    const connection = this.idleOf(server) ?? this.opened(server);
    connection.begin({ head, body, pauseMs: bodyTimeout ?? 0 }, handler);
    if (this.unsent.push(connection) === 1) setImmediate(this.sendAll);
  }

  /** Ends all connections, and with an error the requests on them. */
  close(): void {
    this.isClosed = true;
    clearInterval(this.sweeping);
    for (const { open } of this.servers.values()) for (const connection of open) connection.close();
  }

  private serverAt(origin: string): Server {
    const known = this.servers.get(origin);
    if (known) return known;
    const { hostname, host, port } = new URL(origin);
    const idle: PlainConnection[] = [];
    const open = new Set<PlainConnection>();
    const place = {
      ...this.options,
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? HTTP_PORT : Number(port),
      free: (connection: PlainConnection) => {
        idle.push(connection);
        this.sweepSoon();
      },
      gone: (connection: PlainConnection) => {
        open.delete(connection);
        const at = idle.indexOf(connection);
        if (at >= 0) idle.splice(at, 1);
        if (open.size === 0) this.servers.delete(origin);
      },
    };
    const server = { place, lines: `host: ${host}\r\nconnection: keep-alive\r\n`, idle, open };
    this.servers.set(origin, server);
    return server;
  }

  private idleOf({ idle }: Server): PlainConnection | undefined {
    const connection = idle.pop();
    if (!connection || connection.keptUntilMs > performance.now()) return connection;
    // Those before it have been free for longer.
    connection.close();
    for (const each of idle.splice(0)) each.close();
    return undefined;
  }

  private opened({ place, open }: Server): PlainConnection {
    const connection = new PlainConnection(place);
    open.add(connection);
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

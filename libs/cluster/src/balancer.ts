import {
  type AddressInfo,
  type IpcSocketConnectOpts,
  type Server,
  type Socket,
  connect,
  createServer,
} from 'node:net';

/** A connection to a process of this machine succeeds at once or never. */
const CONNECT_MS = 1_000;

/** The bytes of a connection that are kept for a retry at another process. */
const KEPT_BYTES = 65_536;

/** Requests that may be retried. */
const IDEMPOTENT = /^(GET|HEAD|OPTIONS) /;

/** The target of a connection: a port of this machine, or a Unix socket. */
export interface BalancerTarget {
  readonly place: { readonly port: number } | IpcSocketConnectOpts;
  readonly isReady: boolean;
}

export interface BalancerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether each connection begins with a PROXY protocol header that names its client; default: no. */
  readonly namesClients?: boolean;
}

/**
 * Distributes connections among processes, to the one with the fewest. A process that is not ready gets none
 * as long as another one is. If one does not accept a connection, or closes it before any response, the next
 * one is tried, provided nothing was sent or the request is idempotent. All bytes are forwarded unchanged,
 * each side as fast as the other reads.
 */
export class Balancer {
  private readonly open = new Map<BalancerTarget, Set<Socket>>();

  private constructor(
    private readonly server: Server,
    private readonly targets: readonly BalancerTarget[],
  ) {}

  static async listen(
    targets: readonly BalancerTarget[],
    { host, port, namesClients = false }: BalancerOptions,
  ): Promise<Balancer> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    const balancer = new Balancer(server, targets);
    server.on('connection', (client) => balancer.serve(new Client(client, namesClients), new Set()));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    return balancer;
  }

  get url(): string {
    const { address, port } = this.server.address() as AddressInfo;
    return `http://${address}:${port}`;
  }

  /** Accepts no more connections; open ones continue. */
  stopListening(): void {
    this.server.close();
  }

  /** Ends all connections. */
  close(): void {
    this.stopListening();
    for (const sockets of this.open.values()) for (const socket of sockets) socket.destroy();
  }

  private serve(client: Client, tried: Set<BalancerTarget>): void {
    const { socket } = client;
    const target = this.next(tried);
    if (!target || socket.destroyed) {
      socket.destroy();
      return;
    }
    tried.add(target);
    const sockets = this.open.get(target) ?? new Set();
    this.open.set(target, sockets.add(socket));
    const upstream = connect({ host: '127.0.0.1', allowHalfOpen: true, noDelay: true, ...target.place });
    // The timers of a busy event loop run before it learns that the connection is there.
    const giveUp = (): void => void (upstream.connecting && upstream.destroy());
    upstream.setTimeout(CONNECT_MS, () => setImmediate(giveUp));
    upstream.once('connect', () => upstream.setTimeout(0));
    socket.once('close', () => sockets.delete(socket));
    client.join(upstream, () => {
      sockets.delete(socket);
      this.serve(client, tried);
    });
  }

  private next(tried: ReadonlySet<BalancerTarget>): BalancerTarget | undefined {
    const left = this.targets.filter((target) => !tried.has(target));
    const ready = left.filter(({ isReady }) => isReady);
    const [first, ...others] = ready.length > 0 ? ready : left;
    const busy = (target: BalancerTarget): number => this.open.get(target)?.size ?? 0;
    return first && others.reduce((best, other) => (busy(other) < busy(best) ? other : best), first);
  }
}

/** The connection of a client, and what it sent before any response. */
class Client {
  private kept: Buffer[] = [];
  private keptBytes = 0;
  private hasResponse = false;
  private readonly header: string;

  constructor(
    readonly socket: Socket,
    isNamed: boolean,
  ) {
    // Read now: a socket forgets its addresses when it is destroyed.
    this.header = isNamed ? proxyHeader(socket) : '';
    socket.on('error', () => undefined);
  }

  /** Forwards the data, end and failure of each side. Calls `again` if another process may be tried. */
  join(upstream: Socket, again: () => void): void {
    const { socket } = this;
    const keep = (bytes: Buffer): void => this.keep(bytes);
    if (this.header !== '') upstream.write(this.header);
    for (const bytes of this.kept) upstream.write(bytes);
    socket.on('data', keep).pipe(upstream);
    upstream.once('data', () => {
      this.hasResponse = true;
      this.kept = [];
      socket.off('data', keep);
    });
    upstream.pipe(socket, { end: false });
    let isReset = false;
    upstream.on('error', () => (isReset = true));
    upstream.once('end', () => {
      if (this.hasResponse) socket.end();
      else upstream.destroy();
    });
    const onClose = (): void => {
      if (upstream.writableEnded) return;
      // Only TCP connections can be reset.
      if (upstream.remoteFamily === undefined) upstream.destroy();
      else upstream.resetAndDestroy();
    };
    socket.once('close', onClose);
    upstream.once('close', () => {
      socket.off('close', onClose).off('data', keep).unpipe(upstream);
      if (this.mayGoOn()) again();
      else if (isReset) socket.resetAndDestroy();
      else if (!socket.writableEnded) socket.destroy();
    });
  }

  private keep(bytes: Buffer): void {
    this.keptBytes += bytes.length;
    if (!this.hasResponse && this.keptBytes <= KEPT_BYTES) this.kept.push(bytes);
  }

  private mayGoOn(): boolean {
    const { destroyed, readableEnded } = this.socket;
    if (this.hasResponse || destroyed || readableEnded || this.keptBytes > KEPT_BYTES) return false;
    return this.keptBytes === 0 || IDEMPOTENT.test(Buffer.concat(this.kept).toString('latin1', 0, 16));
  }
}

/** Names the client of a connection. Source: haproxy.org, "The PROXY protocol", version 1. */
function proxyHeader({ remoteAddress, remotePort, localAddress, localPort, remoteFamily }: Socket): string {
  if (remoteAddress === undefined) return 'PROXY UNKNOWN\r\n';
  const family = remoteFamily === 'IPv6' ? 'TCP6' : 'TCP4';
  return `PROXY ${family} ${remoteAddress} ${localAddress} ${remotePort} ${localPort}\r\n`;
}

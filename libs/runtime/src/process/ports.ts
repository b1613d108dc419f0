import { lstat, unlink } from 'node:fs/promises';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { SERVER_OPTIONS } from '../server/http-adapter.js';
import { refuseMalformedOn, refuseUnsupportedOn } from '../http/malformed.js';
import type { Logger } from '../logging/logging.js';
import { ConnectionBound, type ConnectionBounds } from './connection-bound.js';
import { requireProxyHeader } from './proxied-server.js';
import { PassingMap } from '../passing.js';

const LOOK_MS = 10;
/** How long an idle connection stays open in a draining process: a request may be on its way. */
const SWEEP_MS = 50;
/**
 * How long a connection that has carried no request yet stays open, counted from its opening. Its client
 * takes a reset for a failure; on a connection that it has kept, it would send the request again.
 */
const FIRST_REQUEST_MS = 1_000;

/** A connection that may still carry work. */
interface Connection {
  /** Whose responses have not reached the client yet. */
  openRequests: number;
  /** The end of the time for its first request; 0 once it has come. */
  firstRequestBeforeMs: number;
  /** When the last sweep looked. */
  bytesRead: number;
}

interface PortsOptions extends ConnectionBounds {
  readonly logger: Logger;
}

/**
 * The servers of a process, on all of its ports. They accept connections until the process ends, so that
 * probes are answered while it drains and closes everything.
 */
export class Ports {
  private readonly servers: Server[] = [];
  private proxied: Server | undefined;
  private readonly working = new PassingMap<Socket, Connection>();
  private readonly late = new WeakSet<Socket>();
  private isDraining = false;
  /** The number of connections so far. */
  private accepted = 0;

  /** Of clients, on the ports of the public API. */
  private readonly bound: ConnectionBound;

  constructor(
    private readonly handle: RequestListener,
    private readonly options: PortsOptions,
  ) {
    this.bound = new ConnectionBound(options);
  }

  /** Listens on an address. Rejects if it is taken. */
  async open(place: ListenOptions, { isForClients = false } = {}): Promise<AddressInfo> {
    const server = this.create();
    server.on('connection', this.accept);
    if (isForClients) this.bound.watch(server);
    await listen(server, place);
    return server.address() as AddressInfo;
  }

  /** Listens on a port, or on the path of a Unix socket, for connections that begin with a PROXY header. */
  async openProxied(place: string, host: string): Promise<void> {
    this.proxied = this.create();
    // Runs after the header, which names the client.
    this.bound.watch(this.proxied);
    requireProxyHeader(this.proxied);
    // Runs before it: a connection counts while its header is on its way.
    this.proxied.prependListener('connection', this.accept);
    await listen(this.proxied, await placeOf(place, host));
  }

  /** Whether a connection was opened while the process was draining: only probes are answered on it. */
  isLate(socket: Socket): boolean {
    return this.late.has(socket);
  }

  /** Resolves when the time is over or all connections are closed. */
  async linger(lingerMs: number): Promise<void> {
    const endMs = performance.now() + lingerMs;
    while (this.working.size > 0 && performance.now() < endMs) await sleep(LOOK_MS);
  }

  /**
   * Accepts connections for probes only, and waits until every open response has ended, up to the deadline.
   * Balancers that send a PROXY header send no probes, and try another process at once if none listens.
   */
  async drain(deadlineMs: number): Promise<void> {
    await this.closeProxied(deadlineMs);
    this.isDraining = true;
    const sweep = setInterval(() => this.closeIdle(), SWEEP_MS);
    await this.linger(deadlineMs);
    clearInterval(sweep);
    for (const socket of this.working.keys()) socket.destroy();
  }

  /** Closes all ports and connections. */
  close(): void {
    for (const server of this.servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  private create(): Server {
    const { logger } = this.options;
    const handle: RequestListener = (request, response) => {
      this.count(request.socket, response);
      this.handle(request, response);
    };
    const server = createServer(SERVER_OPTIONS, handle);
    refuseMalformedOn(server, logger);
    refuseUnsupportedOn(server, handle, logger);
    this.servers.push(server);
    return server;
  }

  private readonly accept = (socket: Socket): void => {
    this.accepted += 1;
    if (this.isDraining) {
      this.late.add(socket);
      return;
    }
    const firstRequestBeforeMs = performance.now() + FIRST_REQUEST_MS;
    this.working.set(socket, { openRequests: 0, firstRequestBeforeMs, bytesRead: 0 });
    socket.once('close', () => this.working.delete(socket));
  };

  /** Closing a socket resets what waits to be accepted, so a Unix socket loses its name first. */
  private async closeProxied(deadlineMs: number): Promise<void> {
    const path = this.proxied?.address();
    if (typeof path === 'string') {
      await unlink(path).catch(() => undefined);
      await this.acceptWaiting(deadlineMs);
    }
    this.proxied?.close();
  }

  /** Resolves when no connection waits to be accepted. A turn of the event loop accepts only one. */
  private async acceptWaiting(deadlineMs: number): Promise<void> {
    const endMs = performance.now() + deadlineMs;
    for (let before = -1; before < this.accepted && performance.now() < endMs;) {
      before = this.accepted;
      await turn();
      await turn();
    }
  }

  private count(socket: Socket, response: ServerResponse): void {
    const connection = this.working.get(socket);
    if (!connection) return;
    connection.openRequests += 1;
    connection.firstRequestBeforeMs = 0;
    response.once('close', () => (connection.openRequests -= 1));
  }

  /**
   * Closes the connections without a request that have read nothing since the last sweep. Node's own function
   * also closes those whose first request is on its way, and those that still write their response.
   */
  private closeIdle(): void {
    const nowMs = performance.now();
    for (const [socket, connection] of this.working) {
      const { bytesRead } = socket;
      const isIdle = connection.openRequests === 0 && connection.bytesRead === bytesRead;
      if (isIdle && nowMs >= connection.firstRequestBeforeMs) socket.destroy();
      connection.bytesRead = bytesRead;
    }
  }
}

/** A port, or the path of a Unix socket, which a killed process may have left behind. */
async function placeOf(place: string, host: string): Promise<ListenOptions> {
  if (/^\d+$/.test(place)) return { host, port: Number(place) };
  const found = await lstat(place).catch(() => undefined);
  if (found?.isSocket()) await unlink(place);
  return { path: place };
}

function listen(server: Server, place: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(place, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

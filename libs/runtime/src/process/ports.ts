import { lstat, unlink } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVER_OPTIONS } from '../http/http-adapter.js';
import { refuseMalformedOn, refuseUnsupportedOn } from '../http/malformed.js';
import type { Logger } from '../logging/logging.js';
import { ConnectionBound, type ConnectionBounds } from './connection-bound.js';
import { requireProxyHeader } from './proxied-server.js';

const LOOK_MS = 10;
/** A keep-alive connection becomes idle when its response ends, and nothing else would close it. */
const SWEEP_MS = 50;

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
  /** The connections that may still carry work. */
  private readonly working = new Set<Socket>();
  private readonly late = new WeakSet<Socket>();
  private isDraining = false;

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
    this.isDraining = true;
    this.proxied?.close();
    const sweep = setInterval(
      () => this.servers.forEach((server) => server.closeIdleConnections()),
      SWEEP_MS,
    );
    await this.linger(deadlineMs);
    clearInterval(sweep);
    for (const socket of this.working) socket.destroy();
  }

  /** Closes all ports and connections. */
  close(): void {
    for (const server of this.servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  private create(): Server {
    const { handle } = this;
    const { logger } = this.options;
    const server = createServer(SERVER_OPTIONS, handle);
    refuseMalformedOn(server, logger);
    refuseUnsupportedOn(server, handle, logger);
    // Before a PROXY header is read, which pauses the connection.
    server.on('connection', (socket) => this.accept(socket));
    this.servers.push(server);
    return server;
  }

  private accept(socket: Socket): void {
    if (this.isDraining) {
      this.late.add(socket);
      return;
    }
    this.working.add(socket);
    socket.once('close', () => this.working.delete(socket));
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

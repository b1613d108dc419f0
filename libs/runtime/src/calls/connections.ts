import type { Socket } from 'node:net';
import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool, buildConnector } from 'undici';
import { PlainConnections } from '../connections/plain-connections.js';

/** Sends requests to other servers. */
export type RequestSender = Pick<Dispatcher, 'dispatch'>;

/** How to reach other servers. */
export interface Connections {
  /** Keeps connections open for later requests. */
  readonly kept: RequestSender;
  /** Makes a connection for each request. */
  readonly fresh: RequestSender;
  /** The number of requests that wait for a connection. */
  waiting(): number;
  close(): Promise<void>;
}

/** An HTTP proxy through whose tunnels requests over TLS go. */
export interface EgressProxy {
  /** With its user and password, if it needs them. */
  readonly url: string;
  /** Hosts, with their subdomains, that are reached without it, separated by commas. */
  readonly except: string;
}

interface ConnectionOptions {
  readonly connectTimeoutMs: number;
  readonly keepAliveMs: number;
  /**
   * The most connections to one server, and as many for bodies that are streamed; further requests wait for
   * one, in their order. Default: any number, since each server limits its own concurrent requests.
   */
  readonly most?: number;
  /** How long a connection takes requests. Default: as long as it is used. */
  readonly longestMs?: number;
  /** Default: all requests go directly. */
  readonly proxy?: EgressProxy | undefined;
}

/** The bytes that had arrived on a connection when an error ended it. */
const bytesBefore = new WeakMap<Error, number>();

export function connections({
  connectTimeoutMs,
  keepAliveMs,
  most,
  longestMs,
  proxy,
}: ConnectionOptions): Connections {
  const connect = watched(buildConnector({ timeout: connectTimeoutMs }));
  const options = {
    connect,
    connections: most ?? null,
    keepAliveTimeout: keepAliveMs,
    clientTtl: longestMs ?? null,
  };
  const agent = (pipelining: number): Dispatcher => {
    if (!proxy) return new Agent({ ...options, pipelining });
    const through = { httpProxy: '', httpsProxy: proxy.url, noProxy: proxy.except, factory: watchedPool };
    return new EnvHttpProxyAgent({ ...options, ...through, pipelining, connectTimeout: connectTimeoutMs });
  };
  const [kept, fresh] = [agent(1), agent(0)];
  const plain = new PlainConnections({
    connectTimeoutMs,
    keepAliveMs,
    most,
    longestMs,
    failed: (error, bytesRead) => bytesBefore.set(error, bytesRead),
  });
  return {
    kept: {
      dispatch: (request, handler) => {
        if (!PlainConnections.takes(request)) return kept.dispatch(request, handler);
        plain.dispatch(request, handler);
        return true;
      },
    },
    fresh,
    waiting: () => plain.waiting + waitingIn(kept),
    close: async () => {
      plain.close();
      await Promise.all([kept.destroy(), fresh.destroy()]);
    },
  };
}

/** The requests of an agent that wait for a connection. A proxy's agent reports none. */
function waitingIn(agent: Dispatcher): number {
  if (!(agent instanceof Agent)) return 0;
  let count = 0;
  for (const stats of Object.values(agent.stats)) count += 'queued' in stats ? stats.queued : stats.pending;
  return count;
}

/** The connections to a server, of which those through a tunnel come from a connector of the agent's own. */
function watchedPool(origin: string | URL, { connect, ...options }: Pool.Options): Pool {
  return new Pool(origin, {
    ...options,
    ...(typeof connect === 'function' && { connect: watched(connect) }),
  });
}

const watched =
  (connector: buildConnector.connector): buildConnector.connector =>
  (options, callback) => {
    connector(options, (...result) => {
      const [error, socket] = result;
      if (error === null) watch(socket);
      callback(...result);
    });
  };

function watch(socket: Socket): void {
  socket.on('error', (error) => bytesBefore.set(error, socket.bytesRead));
}

/**
 * Whether an error means that the other side closed a connection on which it had already sent something. Such
 * an error before the first byte of a response is usual: the other side closes its idle connections, and a
 * request may cross that on its way.
 */
export function isReset(error: Error): boolean {
  const { code, socket } = error as Error & { code?: string; socket?: { bytesRead?: number } };
  if (!RESETS.has(code ?? '')) return false;
  return (socket?.bytesRead ?? bytesBefore.get(error) ?? 0) > 0;
}

const RESETS = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

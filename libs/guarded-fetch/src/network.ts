import { Resolver, lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Timeouts for one name server, and for one of several addresses. */
const RESOLVE_TRY_MS = 2_000;
const CONNECT_TRY_MS = 1_000;

/** A TCP connection and its remote address. */
export interface Connection {
  readonly socket: Socket;
  readonly remoteAddress: string | undefined;
}

export interface NameQuestion {
  readonly host: string;
  /** Whether to use the system's own names too: hosts file, search list, containers. */
  readonly local: boolean;
}

/** The network below the fetcher. It makes no decisions: all checks are above it. */
export abstract class Network {
  /** All addresses of a name, at least one. Rejects if the name has no address, or if the signal aborts. */
  abstract resolve(question: NameQuestion, signal: AbortSignal): Promise<readonly string[]>;

  /** Connects to one of these addresses, and to no other. */
  abstract connect(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Connection>;

  /** Addresses of this machine's own interfaces. */
  abstract ownAddresses(): readonly string[];
}

/** The real network. */
export class SystemNetwork extends Network {
  /** `nameServers` as `address:port`; default: those of the system. */
  constructor(private readonly nameServers?: readonly string[]) {
    super();
  }

  override async resolve({ host, local }: NameQuestion, signal: AbortSignal): Promise<readonly string[]> {
    if (local) return (await lookup(host, { all: true })).map(({ address }) => address);
    // Not getaddrinfo: slow name servers of untrusted names would occupy the thread pool of the whole
    // process, and the search list would reveal internal names.
    const resolver = new Resolver({ timeout: RESOLVE_TRY_MS, tries: 2 });
    if (this.nameServers) resolver.setServers(this.nameServers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const found = [ipv4, ipv6].flatMap((response) =>
        response.status === 'fulfilled' ? response.value : [],
      );
      if (found.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
      return found;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  override async connect(
    addresses: readonly string[],
    port: number,
    signal: AbortSignal,
  ): Promise<Connection> {
    const checked = addresses.map((address) => ({ address, family: isIP(address) }));
    const socket = connect({
      // Never resolved: the lookup below returns the checked addresses.
      host: 'checked.invalid',
      port,
      lookup: (_host, _options, response) => response(null, checked),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: CONNECT_TRY_MS,
      noDelay: true,
    });
    socket.on('error', () => undefined);
    try {
      await once(socket, 'connect', { signal });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return { socket, remoteAddress: socket.remoteAddress };
  }

  override ownAddresses(): readonly string[] {
    return Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
  }
}

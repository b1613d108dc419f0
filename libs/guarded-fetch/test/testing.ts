import { type Connection, type NameQuestion, Network, SystemNetwork } from '../src/network.js';

export interface TestNetworkOptions {
  /** The addresses of each name; with several sets each lookup takes the next, and the last one stays. */
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** The loopback port of the server behind an `address:port`. */
  readonly servers?: Readonly<Record<string, number>>;
  /** The same for all other addresses; without it they are unreachable. */
  readonly elsewhere?: number;
  /** The remote address that connections report; default: the requested one. */
  readonly reached?: string;
  readonly own?: readonly string[];
}

/** A small internet for tests: names and addresses are invented, connections are real and end on loopback. */
export class TestNetwork extends Network {
  /** Every name that was looked up, in order. */
  readonly lookups: string[] = [];
  /** Every `address:port` that was connected to, in order. */
  readonly connections: string[] = [];
  private readonly system = new SystemNetwork();

  constructor(private readonly options: TestNetworkOptions) {
    super();
  }

  override resolve({ host }: NameQuestion, _signal: AbortSignal): Promise<readonly string[]> {
    const responses = this.options.names?.[host] ?? [];
    const earlier = this.lookups.filter((name) => name === host).length;
    this.lookups.push(host);
    const response = responses[Math.min(earlier, responses.length - 1)];
    return response ? Promise.resolve(response) : Promise.reject(new Error(`${host} has no address`));
  }

  override async connect(
    addresses: readonly string[],
    port: number,
    signal: AbortSignal,
  ): Promise<Connection> {
    const [address = ''] = addresses;
    const name = `${address}:${port}`;
    this.connections.push(name);
    const server = this.options.servers?.[name] ?? this.options.elsewhere;
    if (server === undefined) throw new Error(`nobody is at ${name}`);
    const { socket } = await this.system.connect(['127.0.0.1'], server, signal);
    return { socket, remoteAddress: this.options.reached ?? address };
  }

  override ownAddresses(): readonly string[] {
    return this.options.own ?? [];
  }
}

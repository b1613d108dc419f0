import type { Server } from 'node:http';
import { BlockList, type Socket, isIPv6 } from 'node:net';
import { networkOf } from './client-network.js';

/** The names that trusted proxies may have, in addition to addresses and ranges. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

export interface ConnectionBounds {
  /** The most open connections of an IPv4 address or an IPv6 network (/64). Default: 0, for no bound. */
  readonly connectionsPerAddress?: number;
  /** Comma-separated addresses, ranges and names of proxies, whose connections are those of many clients. */
  readonly trustedProxies?: string;
}

/** Closes connections beyond the bound of their address at once, before anything is read. */
export class ConnectionBound {
  private readonly open = new Map<string, number>();
  private readonly most: number;
  private readonly proxies: BlockList;

  constructor({ connectionsPerAddress = 0, trustedProxies = '' }: ConnectionBounds) {
    this.most = connectionsPerAddress;
    this.proxies = rangesOf(trustedProxies);
  }

  watch(server: Server): void {
    if (this.most > 0) server.on('connection', (socket) => this.count(socket));
  }

  private count(socket: Socket): void {
    const { remoteAddress } = socket;
    // A Unix socket has no address.
    if (remoteAddress === undefined || this.isProxy(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const open = (this.open.get(network) ?? 0) + 1;
    if (open > this.most) {
      socket.destroy();
      return;
    }
    this.open.set(network, open);
    socket.once('close', () => {
      const left = (this.open.get(network) ?? 1) - 1;
      if (left > 0) this.open.set(network, left);
      else this.open.delete(network);
    });
  }

  private isProxy(address: string): boolean {
    return this.proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }
}

function rangesOf(proxies: string): BlockList {
  const list = new BlockList();
  const ranges = proxies.split(',').map((one) => one.trim());
  for (const range of ranges.flatMap((one) => NAMED[one] ?? [one])) {
    const [address = '', bits] = range.split('/');
    const isLong = isIPv6(address);
    if (address === '') continue;
    list.addSubnet(
      address,
      bits === undefined ? (isLong ? 128 : 32) : Number(bits),
      isLong ? 'ipv6' : 'ipv4',
    );
  }
  return list;
}

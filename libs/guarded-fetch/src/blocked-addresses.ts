import { BlockList, isIP } from 'node:net';

/** IPv4 networks that are not public, from the IANA special-purpose registry. */
const BLOCKED_IPV4 = [
  ['0.0.0.0', 8], // This network; many systems take it for loopback.
  ['10.0.0.0', 8], // Private.
  ['100.64.0.0', 10], // Carrier-grade NAT; a cloud keeps its metadata at 100.100.100.200.
  ['127.0.0.0', 8], // Loopback.
  ['168.63.129.16', 32], // A cloud's host agent, at an address that looks public.
  ['169.254.0.0', 16], // Link-local, with the metadata of most clouds.
  ['172.16.0.0', 12], // Private.
  ['192.0.0.0', 24], // Protocol assignments; a cloud keeps its metadata at 192.0.0.192.
  ['192.0.2.0', 24], // Documentation.
  ['192.88.99.0', 24], // 6to4 relays.
  ['192.168.0.0', 16], // Private.
  ['198.18.0.0', 15], // Benchmarks.
  ['198.51.100.0', 24], // Documentation.
  ['203.0.113.0', 24], // Documentation.
  ['224.0.0.0', 4], // Multicast.
  ['240.0.0.0', 4], // Reserved, and broadcast.
] as const;

/**
 * All of IPv6 that may be reached: global unicast, and the two forms that only wrap an IPv4 address. So
 * loopback, unique local, link-local, site-local, multicast, compatible, discard, 64:ff9b:1::/48 and
 * 5f00::/16 are excluded.
 */
const REACHABLE_IPV6 = [
  ['2000::', 3],
  ['64:ff9b::', 96], // NAT64; the wrapped address is checked.
  ['::ffff:0:0', 96], // Mapped; the wrapped address is checked.
] as const;

/** Exceptions within it. */
const BLOCKED_IPV6 = [
  ['2001::', 23], // Protocol assignments: Teredo, benchmarks, ORCHID.
  ['2001:db8::', 32], // Documentation.
  ['3fff::', 20], // Documentation.
] as const;

/** Suffixes of names for this machine, its network or its cloud. */
const LOCAL_SUFFIXES = ['localhost', 'local', 'localdomain', 'internal', 'home.arpa', 'svc'];

/** A set of rejected addresses, in every form that reaches them. */
export class AddressBlock {
  private readonly list = new BlockList();

  /**
   * Adds an IPv4 network, and the IPv6 networks of NAT64 and 6to4 that lead to it. Mapped addresses match by
   * themselves.
   */
  addIpv4(network: string, prefix: number): this {
    const [a = 0, b = 0, c = 0, d = 0] = network.split('.').map(Number);
    const groups = [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(':');
    this.list.addSubnet(network, prefix, 'ipv4');
    this.list.addSubnet(`64:ff9b::${groups}`, 96 + prefix, 'ipv6');
    this.list.addSubnet(`2002:${groups}::`, 16 + prefix, 'ipv6');
    return this;
  }

  addIpv6(network: string, prefix: number): this {
    this.list.addSubnet(network, prefix, 'ipv6');
    return this;
  }

  addAddress(address: string): this {
    const plain = address.replace(/%.*$/, '');
    return isIP(plain) === 4 ? this.addIpv4(plain, 32) : this.addIpv6(plain, 128);
  }

  has(address: string): boolean {
    return this.list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
}

const blocked = new AddressBlock();
for (const [network, prefix] of BLOCKED_IPV4) blocked.addIpv4(network, prefix);
for (const [network, prefix] of BLOCKED_IPV6) blocked.addIpv6(network, prefix);

const reachable = new AddressBlock();
for (const [network, prefix] of REACHABLE_IPV6) reachable.addIpv6(network, prefix);

/** True for an IP address of the public internet; false for anything else. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  return (family === 4 || reachable.has(address)) && !blocked.has(address);
}

/**
 * True for a lower-case host name that only exists in a local network. Names without a dot are local: a
 * resolver's search list would complete them.
 */
export function isLocalName(name: string): boolean {
  return !name.includes('.') || LOCAL_SUFFIXES.some((suffix) => name.endsWith(`.${suffix}`));
}

import ipaddr from 'ipaddr.js';

/** A client can choose among all addresses of a network of this size. */
const IPV6_NETWORK_BITS = 64;

/** Length limit for text that is not an IP address, which only a proxy can have made up. */
const MAX_NAME = 64;

/** An IPv6 address counts as its network, and an IPv4-mapped one as the IPv4 address. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip.slice(0, MAX_NAME);
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  const cidr = `${address.toNormalizedString()}/${IPV6_NETWORK_BITS}`;
  return `${ipaddr.IPv6.networkAddressFromCIDR(cidr).toString()}/${IPV6_NETWORK_BITS}`;
}

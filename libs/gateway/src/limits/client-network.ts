import ipaddr from 'ipaddr.js';

/** A client has all addresses of such a network to choose from. */
const IPV6_NETWORK_BITS = 64;

/** What is no address is what a proxy made up. */
const MAX_NAME = 64;

/** Of an IPv6 address only the network counts; one that stands for an IPv4 address is that. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip.slice(0, MAX_NAME);
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  const cidr = `${address.toNormalizedString()}/${IPV6_NETWORK_BITS}`;
  return `${ipaddr.IPv6.networkAddressFromCIDR(cidr).toString()}/${IPV6_NETWORK_BITS}`;
}

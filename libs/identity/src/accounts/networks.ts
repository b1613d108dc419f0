import ipaddr from 'ipaddr.js';

/** The addresses that begin with the same bits. */
export interface AddressRange {
  readonly address: ipaddr.IPv4 | ipaddr.IPv6;
  readonly bits: number;
}

const BITS = { ipv4: 32, ipv6: 128 } as const;
/** Of an IPv6 address that stands for an IPv4 one. */
const MAPPED_BITS = BITS.ipv6 - BITS.ipv4;

/**
 * A network such as `192.0.2.0/24` or `2001:db8::/32`, or a single address. One of IPv4 addresses that are
 * written as IPv6 ones is that of the IPv4 addresses. `undefined` for any other text.
 */
export function networkIn(text: string): AddressRange | undefined {
  const whole = /^[\da-f:.]{2,45}(?:\/\d{1,3})?$/i.test(text);
  const isNetwork = text.includes('/');
  if (!whole || !(isNetwork ? ipaddr.isValidCIDR(text) : isAddress(text))) return undefined;
  const [given, bits] = isNetwork ? ipaddr.parseCIDR(text) : [ipaddr.parse(text), undefined];
  const address = ipaddr.process(given.toString());
  if (bits === undefined) return { address, bits: BITS[address.kind()] };
  if (given.kind() === address.kind()) return { address, bits };
  return bits < MAPPED_BITS ? undefined : { address, bits: bits - MAPPED_BITS };
}

/** Whether a network contains another one or an address. */
export function contains({ address, bits }: AddressRange, other: AddressRange): boolean {
  if (address.kind() !== other.address.kind() || bits > other.bits) return false;
  return other.address.match(address, bits);
}

/** Node's forms with three or fewer numbers are not accepted: readers disagree about them. */
const isAddress = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);

import { describe, expect, it } from 'vitest';
import { AddressBlock, isLocalName, isPublicAddress } from './blocked-addresses.js';

/** First and last address of each network that must be rejected. */
const refused = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['::', '::ffff:ffff'],
  ['::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::', '100::ffff:ffff:ffff:ffff'],
  ['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:2::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

const metadata = ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '192.0.0.192', '168.63.129.16'];

const neighbours = [
  '1.0.0.0',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.88.98.255',
  '192.88.100.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '198.51.101.0',
  '203.0.112.255',
  '203.0.114.0',
  '223.255.255.255',
  '2000::',
  '2001:200::',
  '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db9::',
  '2003::1',
  '2606:4700:4700::1111',
  '3ffe::1',
  '3fff:1000::',
];

/** The forms of IPv6 that contain an IPv4 address. */
function wrapped(ipv4: string): Record<string, string> {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  return {
    mapped: `::ffff:${ipv4}`,
    mappedHex: `::ffff:${hex}`,
    nat64: `64:ff9b::${hex}`,
    sixToFour: `2002:${hex}::1`,
  };
}

const isIpv4 = (address: string): boolean => !address.includes(':');

describe('isPublicAddress', () => {
  it.each(refused.flat())('rejects %s, the first or last address of a special network', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(refused.flat().filter(isIpv4))(
    'rejects %s inside every form of IPv6 that contains it',
    (address) => {
      expect(Object.values(wrapped(address)).filter(isPublicAddress)).toEqual([]);
    },
  );

  it.each(metadata)('rejects the metadata address %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(neighbours)('accepts %s, the neighbour of a special network', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(neighbours.filter(isIpv4))('accepts %s inside mapped, NAT64 and 6to4 addresses', (address) => {
    expect(Object.values(wrapped(address)).filter((form) => !isPublicAddress(form))).toEqual([]);
  });

  it.each(['::8.8.8.8', '::ffff:0:8.8.8.8', '64:ff9b:1::8.8.8.8'])(
    'rejects %s: this form reaches no public server',
    (address) => {
      expect(isPublicAddress(address)).toBe(false);
    },
  );

  it.each(['', 'example.com', '1.2.3', '1.2.3.4.5', '2606:4700::1%eth0', '[::1]', '8.8.8.8 '])(
    'rejects "%s", which is not a plain address',
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});

describe('AddressBlock', () => {
  it('contains an IPv4 address in all its forms, and no other', () => {
    const block = new AddressBlock().addAddress('93.184.216.34');
    const formsOf = (ipv4: string): string[] => [ipv4, ...Object.values(wrapped(ipv4))];
    expect(formsOf('93.184.216.34').filter((form) => !block.has(form))).toEqual([]);
    expect(formsOf('93.184.216.35').filter((form) => block.has(form))).toEqual([]);
  });

  it('accepts interface addresses with their zone', () => {
    expect(new AddressBlock().addAddress('2606:4700::1%eth0').has('2606:4700::1')).toBe(true);
  });
});

describe('isLocalName', () => {
  it.each([
    'localhost',
    'a.localhost',
    'printer.local',
    'metadata',
    'metadata.google.internal',
    'instance-data',
    'instance-data.ec2.internal',
    'localhost.localdomain',
    'router.home.arpa',
    'redis.default.svc',
    'redis.default.svc.cluster.local',
  ])('is true for %s', (name) => {
    expect(isLocalName(name)).toBe(true);
  });

  it.each(['example.com', 'internal.example.com', 'local.example.com', 'mylocal.net', 'localhost.com'])(
    'is false for %s',
    (name) => {
      expect(isLocalName(name)).toBe(false);
    },
  );
});

import { describe, expect, it } from 'vitest';
import { contains, networkIn } from './networks.js';

const has = (network: string, other: string): boolean => {
  const [wide, narrow] = [networkIn(network), networkIn(other)];
  return wide !== undefined && narrow !== undefined && contains(wide, narrow);
};

describe('a network', () => {
  it.each([
    ['192.0.2.0/24', '192.0.2.255'],
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.0/24', '::ffff:192.0.2.9'],
    ['::ffff:192.0.2.0/120', '192.0.2.9'],
    ['0.0.0.0/0', '203.0.113.1'],
    ['2001:db8::/32', '2001:DB8:1::5'],
    ['192.0.2.0/24', '192.0.2.128/25'],
  ])('%s contains %s', (network, other) => expect(has(network, other)).toBe(true));

  it.each([
    ['192.0.2.0/24', '192.0.3.0'],
    ['192.0.2.128/25', '192.0.2.0/24'],
    ['0.0.0.0/0', '2001:db8::1'],
    ['::/0', '192.0.2.1'],
    ['::1', '127.0.0.1'],
  ])('%s does not contain %s', (network, other) => expect(has(network, other)).toBe(false));

  it.each([
    '',
    'localhost',
    '192.0.2',
    '192.0.2.0/33',
    '010.0.0.1',
    '1',
    '::ffff:0.0.0.0/90',
    'fe80::1%eth0',
    '1.2.3.4/x',
  ])('is not %j', (text) => expect(networkIn(text)).toBeUndefined());
});

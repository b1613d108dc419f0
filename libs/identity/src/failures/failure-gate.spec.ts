import { describe, expect, it } from 'vitest';
import { subjectOf } from './failure-gate.js';

const subject = (ip: string): string => subjectOf({ caller: undefined, ip });

describe('the subject that a failure without a caller counts for', () => {
  it.each([
    ['192.0.2.7', 'ip:192.0.2.7'],
    ['2001:db8:0:1:2:3:4:5', 'ip:2001:db8:0:1::/64'],
    ['2001:db8::5', 'ip:2001:db8::/64'],
    ['2001:0db8:0000:0001::9', 'ip:2001:db8:0:1::/64'],
    ['::1', 'ip:::/64'],
    ['::ffff:192.0.2.7', 'ip:192.0.2.7'],
    ['fe80::1%eth0', 'ip:fe80::/64'],
    ['unknown', 'ip:unknown'],
    ['x'.repeat(1_000), `ip:${'x'.repeat(64)}`],
  ])('is the IPv4 address or the IPv6 network: %s', (ip, expected) => {
    expect(subject(ip)).toBe(expected);
  });

  it('is the same for two addresses of one network, but not for addresses of two networks', () => {
    expect(subject('2001:db8:1::1')).toBe(subject('2001:db8:1::ffff:1'));
    expect(subject('2001:db8:1::1')).not.toBe(subject('2001:db8:1:1::1'));
  });
});

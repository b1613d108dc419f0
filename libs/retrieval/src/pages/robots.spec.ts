import { describe, expect, it } from 'vitest';
import { RobotRules } from './robots.js';

describe('RobotRules', () => {
  const rules = RobotRules.parse(
    [
      '# a comment',
      'User-agent: other',
      'Disallow: /',
      '',
      'User-Agent: *',
      'User-agent: another',
      'Disallow: /private/ # why',
      'Allow: /private/open',
      'Disallow: /*.pdf$',
      'Disallow: /a*b*c',
      'Disallow:',
      'Sitemap: https://a.example/map.xml',
    ].join('\r\n'),
  );

  it.each([
    ['/', true],
    ['/private/x', false],
    ['/private/open/x', true],
    ['/x.pdf', false],
    ['/x.pdf?y', true],
    ['/a1b2c3', false],
    ['/acb', true],
  ])('for %s returns %s', (path, allowed) => {
    expect(rules.allows(path)).toBe(allowed);
  });

  it('uses the group with our own name, if there is one', () => {
    const own = RobotRules.parse(
      'User-agent: *\nDisallow: /\n\nUser-agent: SVC-guarded-fetch\nDisallow: /x\n',
    );
    expect([own.allows('/y'), own.allows('/x')]).toEqual([true, false]);
  });

  it('prefers an allowing rule of equal length, and allows everything without rules', () => {
    expect(RobotRules.parse('User-agent: *\nDisallow: /p\nAllow: /p\n').allows('/p')).toBe(true);
    expect(RobotRules.parse('<html>nothing here</html>').allows('/p')).toBe(true);
    expect(RobotRules.nothing.allows('/')).toBe(false);
  });

  it('matches hostile patterns without delay', () => {
    const hostile = RobotRules.parse(`User-agent: *\nDisallow: /${'*a'.repeat(900)}*b$\n`);
    expect(hostile.allows(`/${'a'.repeat(8_000)}`)).toBe(true);
  });

  it('parses in linear time, however many names its groups have', () => {
    const names = Array.from({ length: 30_000 }, (_, n) => `user-agent:${n % 2 === 0 ? '*' : n}`);
    const hostile = RobotRules.parse([...names, ...Array(5_000).fill('disallow:/x')].join('\n'));
    expect([hostile.allows('/x'), hostile.allows('/y')]).toEqual([false, true]);
  });

  it('keeps the rules for this service, after any number of rules for others', () => {
    const others = `User-agent: other\n${'Disallow: /a\n'.repeat(10_000)}`;
    const rules = RobotRules.parse(`${others}\nUser-agent: *\nDisallow: /x\n`);
    expect([rules.allows('/a'), rules.allows('/x')]).toEqual([true, false]);
    expect(rules.sizeBytes).toBeLessThan(1_000);
  });

  it('an own group that forbids nothing overrides the rules for everyone', () => {
    const rules = RobotRules.parse(
      'User-agent: *\nDisallow: /\n\nUser-agent: svc-guarded-fetch\nDisallow:\n',
    );
    expect(rules.allows('/x')).toBe(true);
  });
});

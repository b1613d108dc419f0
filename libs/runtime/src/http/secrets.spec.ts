import { describe, expect, it } from 'vitest';
import { SECRET_LENGTH, SharedSecret, bearer } from './secrets.js';

const secret = 's'.repeat(SECRET_LENGTH);

describe('SharedSecret', () => {
  it('equals itself and nothing else, not even a missing value', () => {
    const shared = new SharedSecret(secret);
    expect(shared.isEqual(secret)).toBe(true);
    for (const other of ['', ' ', undefined, `${secret} `, secret.slice(1), secret.toUpperCase()])
      expect(shared.isEqual(other)).toBe(false);
  });

  it('equals its second value as well, if it has one', () => {
    const second = 't'.repeat(SECRET_LENGTH);
    const shared = new SharedSecret(secret, second);
    expect([secret, second].map((each) => shared.isEqual(each))).toEqual([true, true]);
    for (const other of ['', undefined, `${secret}${second}`, `${secret},${second}`])
      expect(shared.isEqual(other)).toBe(false);
  });

  it.each(['', ' ', 's'.repeat(SECRET_LENGTH - 1)])('rejects the value %j', (short) => {
    expect(() => new SharedSecret(short)).toThrow(/at least 32 characters/);
    expect(() => new SharedSecret(secret, short)).toThrow(/at least 32 characters/);
  });
});

describe('bearer', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer  abc ', 'abc'],
    ['Bearer \u00a0', ''],
    ['Basic abc', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads %j as %j', (header, token) => {
    expect(bearer(header)).toBe(token);
  });
});

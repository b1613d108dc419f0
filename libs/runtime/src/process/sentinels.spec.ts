import { describe, expect, it } from 'vitest';
import { redisUrl } from './config.js';
import { sentinelAddress } from './sentinels.js';

const PLAIN = {
  sentinels: [{ host: 'a', port: 26_379 }],
  master: 'main',
  database: 0,
  username: '',
  password: '',
  sentinelPassword: '',
  isTls: false,
};

describe('the address of Sentinels', () => {
  it.each([
    ['redis+sentinel://a/main', PLAIN],
    ['rediss+sentinel://a/main', { ...PLAIN, isTls: true }],
    ['redis+sentinel://:p%40ss@a/main', { ...PLAIN, password: 'p@ss' }],
    ['redis+sentinel://user:a:b@a/main', { ...PLAIN, username: 'user', password: 'a:b' }],
    [
      'redis+sentinel://:p@a:1,b.example,[::1]:3/main/2?sentinelPassword=s%2F',
      {
        ...PLAIN,
        sentinels: [
          { host: 'a', port: 1 },
          { host: 'b.example', port: 26_379 },
          { host: '::1', port: 3 },
        ],
        password: 'p',
        database: 2,
        sentinelPassword: 's/',
      },
    ],
  ])('%s', (url, address) => {
    expect(sentinelAddress(url)).toEqual(address);
    expect(redisUrl.parse(url)).toBe(url);
  });

  it.each([
    'redis+sentinel://a',
    'redis+sentinel://a/',
    'redis+sentinel:///main',
    'redis+sentinel://a,/main',
    'redis+sentinel://a:b/main',
    'redis+sentinel://a/main/x',
    'redis+sentinel://a/main?password=x',
    'redis+sentinel://:%zz@a/main',
    'redis+sentinel://a/main,redis://b:6379',
    'http+sentinel://a/main',
  ])('is not %s, which is refused', (url) => {
    expect(sentinelAddress(url)).toBeUndefined();
    expect(redisUrl.safeParse(url).success).toBe(false);
  });
});

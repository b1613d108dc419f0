import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis } from './redis.js';
import { RedisScript } from './redis-script.js';
import { type TestRedis, startTestRedis, startTestSentinel } from '../../test/redis-server.js';
import { withRedis } from '../../test/testing.js';

const { skipped, note } = withRedis();

describe.skipIf(skipped)(`connectRedis${note}`, () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis?.stop());

  async function connect() {
    const messages: string[] = [];
    const tell = (message: string): void => void messages.push(message);
    const client = connectRedis({ url: redis.url, name: 'test', logger: { warn: tell, info: tell } });
    while (client.status !== 'ready') await sleep(5);
    return { client, messages };
  }

  it('runs a script in one round trip, sending its text once, and again if the server has lost it', async () => {
    const { client } = await connect();
    const script = new RedisScript(client, 'return { KEYS[1], ARGV[1], ARGV[2] }');
    const run = () => script.run({ keys: ['key'], args: ['text', 7] });
    const texts = async (): Promise<number> =>
      Number(/cmdstat_eval:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
    await Promise.all(Array.from({ length: 20 }, run));
    expect(await texts()).toBe(1);
    await client.script('FLUSH');
    await client.config('RESETSTAT');
    const replies = await Promise.all(Array.from({ length: 20 }, run));
    expect(replies).toEqual(Array(20).fill(['key', 'text', '7']));
    expect(await texts()).toBeGreaterThan(0);
    await client.config('RESETSTAT');
    expect(await run()).toEqual(['key', 'text', '7']);
    expect(await texts()).toBe(0);
    await expect(
      new RedisScript(client, 'return redis.call("NONE")').run({ keys: [], args: [] }),
    ).rejects.toThrow(/NONE|Unknown/);
    client.disconnect();
  });

  it('a late response still resolves its promise', async () => {
    const { client } = await connect();
    redis.signal('SIGSTOP');
    const late = client.incr('late');
    await sleep(300);
    redis.signal('SIGCONT');
    expect(await late).toBe(1);
    client.disconnect();
  });

  it('when a server dies, running and new commands reject at once; the outage is logged once, and the client reconnects', async () => {
    const { client, messages } = await connect();
    redis.signal('SIGSTOP');
    const underWay = client.incr('died').catch(String);
    redis.signal('SIGKILL');
    expect(await underWay).toMatch(/Error/);
    for (let time = 0; time < 20; time += 1) {
      await expect(client.incr('died')).rejects.toThrow(/writeable|retries|closed/);
      await sleep(50);
    }
    await redis.restart();
    while (client.status !== 'ready') await sleep(10);
    // It was sent only once.
    expect(await client.incr('died')).toBe(1);
    expect(messages).toEqual([
      expect.stringMatching(/^test: cannot connect to Redis, retrying \(.+\)$/),
      'test: reconnected to Redis',
    ]);
    client.disconnect();
  });
});

describe.skipIf(skipped)(`connectRedis with Sentinels${note}`, () => {
  it('is connected to the master, and after its loss to the server that became the master', async () => {
    const { url, master, replica, stop } = await startTestSentinel();
    const client = connectRedis({ url, name: 'test' });
    try {
      const portOf = async (): Promise<string> =>
        /tcp_port:(\d+)/.exec(await client.info('server'))?.[1] ?? '';
      while (client.status !== 'ready') await sleep(5);
      expect(await portOf()).toBe(new URL(master.url).port);
      expect(await client.set('key', 'before')).toBe('OK');
      await client.wait(1, 5_000);
      master.signal('SIGKILL');
      await expect.poll(() => client.set('key', 'after').catch(() => ''), { timeout: 30_000 }).toBe('OK');
      expect(await portOf()).toBe(new URL(replica.url).port);
      expect(await client.get('key')).toBe('after');
    } finally {
      client.disconnect();
      await stop();
    }
  }, 60_000);
});

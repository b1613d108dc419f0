import { repeats } from '@svc/testing';
import { expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { OPERATOR_TOKEN } from '../deployment.js';
import { TELLS_MEMORY, residentBytes } from '../memory.js';
import { ownPlatform } from '../own-platform.js';

const USERS = repeats('END_USERS');
const AT_ONCE = 32;
/** What the process may gain: its caches are bounded, and a limit of a user is a window. */
const GAINED_BYTES = 256 * 1_024 * 1_024;

it(
  'any number of users of an account costs bounded memory and no metric series, and they are all counted',
  async ({ annotate }) => {
    const platform = await ownPlatform();
    const { account, adminKey } = await AccountKeys.of(platform, '1000.00');
    const admin = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const limits = { method: 'PUT', headers: admin, body: JSON.stringify({ requestsPerDay: 1_000 }) };
    expect((await fetch(`${platform.apiUrl}/end_users/*/limits`, limits)).status).toBe(200);
    const ask = async (user: string): Promise<void> => {
      const messages = [{ role: 'user', content: 'Hi' }];
      const body = { model: 'test-model', messages, max_tokens: 1, user };
      const response = await platform.chat(account.apiKey, body);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    };
    const all = async (users: readonly string[]): Promise<void> => {
      const queue = users.values();
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (const user of queue) await ask(user);
        }),
      );
    };
    const series = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
      const text = await (await fetch(new URL('/metrics', platform.operatorUrl), { headers })).text();
      return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
    };
    const analytics = async (): Promise<{ ms: number; users: number }> => {
      const startMs = performance.now();
      const path = '/billing/usage-analytics/users?lookback=7d';
      const response = await fetch(`${platform.apiUrl}${path}`, { headers: admin });
      const { data } = (await response.json()) as { data: unknown[] };
      return { ms: Math.round(performance.now() - startMs), users: data.length };
    };
    await all(Array.from({ length: 200 }, () => 'first'));
    await analytics();
    const measured = async () => ({
      series: await series(),
      bytes: TELLS_MEMORY ? residentBytes(platform.service.pid) : 0,
      analytics: await analytics(),
    });
    const before = await measured();
    const startMs = performance.now();
    await all(Array.from({ length: USERS }, (_, user) => `user-${user}`));
    const seconds = (performance.now() - startMs) / 1_000;
    const after = await measured();
    await annotate(JSON.stringify({ users: USERS, seconds, before, after }));
    // Some more buckets of durations, as with any other requests.
    expect(after.series - before.series).toBeLessThan(100);
    expect(after.bytes - before.bytes).toBeLessThan(GAINED_BYTES);
    expect(after.analytics.users).toBeGreaterThan(before.analytics.users);
  },
  120_000 + USERS * 60,
);

import { setTimeout as sleep } from 'node:timers/promises';
import { type Simulator, startSimulator } from '@svc/simulator';
import { repeats } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { eventually } from '../response-bodies.js';

const MODEL = 'few-slots';
/** A token of the output costs this much, and nothing else costs anything. */
const TOKEN_NANO = 1_000;
const AT_ONCE = 60;
const TEST = { timeout: 300_000 };

let servers: Simulator[];
let platform: Platform;
let accounts: TestAccount[];

beforeAll(async () => {
  servers = await Promise.all([1, 2].map(() => startSimulator({ port: 0, logRequests: 10_000 })));
  const backends = servers.map(({ url }) => ({ url: `${url}/v1`, model: 'sim', maxInFlight: 20 }));
  platform = await Platform.start({ models: [{ id: MODEL, pricing: { input: 0, output: 1 }, backends }] });
  accounts = await Promise.all([1, 2, 3, 4].map(() => platform.account('100.00')));
});
afterAll(async () => {
  await platform?.stop();
  for (const server of servers) await server.close();
});

/** Begins a request, and leaves at a random moment. Returns how many tokens had arrived by then. */
async function leave(account: TestAccount | undefined, number: number): Promise<number> {
  const leaving = new AbortController();
  const afterMs = Math.random() * 500;
  // It leaves later if the request has not even been sent by then.
  void sleep(afterMs).then(() => leaving.abort());
  const stream = number % 4 > 0;
  const messages = [{ role: 'user', content: `Number ${number} [[sim tokens=400 ttft-ms=50 itl-ms=5]]` }];
  const body = { model: MODEL, messages, stream };
  let text = '';
  try {
    const response = await platform.chat(account?.apiKey ?? '', body, { signal: leaving.signal });
    if (!stream || response.status !== 200) return 0;
    for await (const part of response.body ?? []) text += Buffer.from(part).toString();
  } catch {
    // It left.
  }
  return text.split('"content":"').length - 1 - (text.includes('"content":""') ? 1 : 0);
}

it(
  'requests that are left at any moment, also in a queue, end at the server, and cost what was delivered',
  TEST,
  async () => {
    const count = repeats('ABORTS');
    let number = 0;
    let arrived = 0;
    const client = async (): Promise<void> => {
      while (number < count) {
        number += 1;
        arrived += await leave(accounts[number % accounts.length], number);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));

    await eventually('no server works for anyone', () =>
      servers.every((server) => server.stats().inFlight === 0 && server.stats().queued === 0),
    );
    const stats = servers.map((server) => server.stats());
    const cancelled = stats.reduce((sum, each) => sum + each.cancelled, 0);
    expect(cancelled).toBeGreaterThan(count / 10);
    const ended = servers
      .flatMap((server) => server.requests())
      .filter(({ outcome }) => outcome === 'served');
    const whole = ended.reduce((sum, { completionTokens }) => sum + completionTokens, 0);
    const left = servers.flatMap((server) => server.cancellations());
    const sent = left.reduce(
      (sum, { stream, tokensDelivered }) => sum + (stream ? tokensDelivered : 0),
      whole,
    );

    const spentNano = async (): Promise<number> => {
      const balances = await Promise.all(accounts.map(({ id }) => platform.balances(id)));
      return Math.round(balances.reduce((sum, { usd }) => sum + (100 - Number(usd)) * 1e9, 0));
    };
    await eventually('what arrived is charged', async () => (await spentNano()) >= arrived * TOKEN_NANO);
    const spent = await spentNano();
    expect(spent % TOKEN_NANO).toBe(0);
    expect(spent).toBeLessThanOrEqual(sent * TOKEN_NANO);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  },
);

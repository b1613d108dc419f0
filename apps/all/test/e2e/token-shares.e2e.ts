import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';

/** Tokens of a call, which its backend takes as many milliseconds for. */
const PROMPT_TOKENS = 10;

let platform: Platform;
let backend: TestServer;

beforeAll(async () => {
  backend = await TestServer.start((request, response) => {
    void json(request).then(async (body) => {
      const { max_tokens: tokens } = body as { max_tokens: number };
      await sleep(PROMPT_TOKENS + tokens);
      const message = { role: 'assistant', content: 'a '.repeat(tokens) };
      const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens: tokens };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices, usage }));
    });
  });
  const backends = [{ url: `${backend.url}/v1`, model: 'm', maxInFlight: 2 }];
  const serviceTiers = { flex: { priceFactor: 0.5 } };
  platform = await Platform.start({ models: [{ id: 'shared', backends, serviceTiers }] });
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});

interface Demand {
  readonly tokens: number;
  /** How many of its calls are sent at the same time. */
  readonly atOnce: number;
  readonly tier?: string;
}

/** The tokens that each account gets while all send calls, one after the other, for this time. */
async function tokensOf(demands: readonly Demand[], ms: number): Promise<number[]> {
  const accounts = await Promise.all(demands.map(() => platform.account('10.00')));
  const untilMs = Date.now() + ms;
  const messages = [{ role: 'user', content: 'hi' }];
  return Promise.all(
    demands.map(async ({ tokens, atOnce, tier }, index) => {
      const apiKey = accounts[index]?.apiKey ?? '';
      const body = { model: 'shared', messages, max_tokens: tokens, service_tier: tier };
      let sum = 0;
      const loop = async (): Promise<void> => {
        while (Date.now() < untilMs) {
          const response = await platform.chat(apiKey, body);
          const { usage } = (await response.json()) as { usage?: { total_tokens: number } };
          if (Date.now() < untilMs) sum += usage?.total_tokens ?? 0;
        }
      };
      await Promise.all(Array.from({ length: atOnce }, loop));
      return sum;
    }),
  );
}

const shareOf = ([one = 0, other = 0]: readonly number[]): number => one / (one + other);

// One process shares on its own; in a cluster each router does.
describe('accounts that send more than a backend can take', () => {
  it('get half of its tokens each, whatever the number and the size of their calls', async () => {
    const share = shareOf(
      await tokensOf(
        [
          { tokens: 20, atOnce: 9 },
          { tokens: 200, atOnce: 4 },
        ],
        6_000,
      ),
    );
    expect(share).toBeGreaterThan(0.4);
    expect(share).toBeLessThan(0.6);
  });

  it('get more than those in the flex tier, which keep a share', async () => {
    const share = shareOf(
      await tokensOf(
        [
          { tokens: 50, atOnce: 6 },
          { tokens: 50, atOnce: 6, tier: 'flex' },
        ],
        5_000,
      ),
    );
    expect(share).toBeGreaterThan(0.75);
    expect(share).toBeLessThan(1);
  });
});

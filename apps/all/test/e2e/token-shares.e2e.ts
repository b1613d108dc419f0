import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';

const SLOTS = 2;
const PROMPT_TOKENS = 10;

/** A call that the backend has not answered. */
interface OpenCall {
  readonly who: string;
  readonly tokens: number;
  /** When it would end, on a clock of one token a tick. */
  readonly end: number;
  readonly response: ServerResponse;
}

let platform: Platform;
let backend: TestServer;
const open = new Set<OpenCall>();
let now = 0;

beforeAll(async () => {
  backend = await TestServer.start((request, response) => {
    void json(request).then((body) => {
      const { max_tokens: output, messages } = body as {
        max_tokens: number;
        messages: { content: string }[];
      };
      const tokens = PROMPT_TOKENS + output;
      const call = { who: String(messages[0]?.content), tokens, end: now + tokens, response };
      open.add(call);
      response.once('close', () => open.delete(call));
    });
  });
  const backends = [{ url: `${backend.url}/v1`, model: 'm', maxInFlight: SLOTS }];
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

function answer({ response, tokens }: OpenCall): void {
  const output = tokens - PROMPT_TOKENS;
  const message = { role: 'assistant', content: 'a '.repeat(output) };
  const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens: output };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices, usage }));
}

/** Resolves when all slots are taken and this number of calls waits for one. */
const whenWaiting = (count: number): Promise<void> =>
  eventually(`${count} calls wait`, async () => {
    const { body } = await platform.operator('GET', '/backends');
    const rows = body['data'] as { model: string; waiting: number }[];
    return open.size === SLOTS && rows.find(({ model }) => model === 'shared')?.waiting === count;
  });

/**
 * The share of the first account in this number of tokens, while both send calls one after the other. The
 * backend's clock goes on only while all calls are there, so a slow machine has the same share.
 */
async function shareOf([one, other]: readonly [Demand, Demand], tokens: number): Promise<number> {
  const ending = new AbortController();
  const loops = [one, other].map(async ({ tokens: output, atOnce, tier }, index) => {
    const { apiKey } = await platform.account('10.00');
    const messages = [{ role: 'user', content: String(index) }];
    const body = { model: 'shared', messages, max_tokens: output, service_tier: tier };
    const loop = async (): Promise<void> => {
      while (!ending.signal.aborted) {
        try {
          await (await platform.chat(apiKey, body, { signal: ending.signal })).text();
        } catch (error) {
          if (!ending.signal.aborted) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, loop));
  });
  const served = new Map<string, number>();
  for (let sum = 0; sum < tokens;) {
    await whenWaiting(one.atOnce + other.atOnce - SLOTS);
    const next = [...open].reduce((first, call) => (call.end < first.end ? call : first));
    open.delete(next);
    now = next.end;
    sum += next.tokens;
    served.set(next.who, (served.get(next.who) ?? 0) + next.tokens);
    answer(next);
  }
  ending.abort();
  await Promise.all(loops);
  return (served.get('0') ?? 0) / tokens;
}

// One process shares on its own; in a cluster each router does.
describe('accounts that send more than a backend can take', () => {
  it('get half of its tokens each, whatever the number and the size of their calls', async () => {
    const share = await shareOf(
      [
        { tokens: 20, atOnce: 9 },
        { tokens: 200, atOnce: 4 },
      ],
      4_000,
    );
    expect(share).toBeGreaterThan(0.4);
    expect(share).toBeLessThan(0.6);
  });

  it('get more than those in the flex tier, which keep a share', async () => {
    const share = await shareOf(
      [
        { tokens: 50, atOnce: 6 },
        { tokens: 50, atOnce: 6, tier: 'flex' },
      ],
      3_000,
    );
    expect(share).toBeGreaterThan(0.75);
    expect(share).toBeLessThan(1);
  });
});

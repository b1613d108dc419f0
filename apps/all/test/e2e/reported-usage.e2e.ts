import { ChatCompletion } from '@svc/api/chat';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { chunksOf } from '../response-bodies.js';
import { ScriptedBackend, scriptMessage } from '../scripted-backend.js';

/** USD for a million tokens. */
const PRICING = { input: 1, cacheInput: 0.1, cacheWrite: 1.25, output: 2 };

let platform: Platform;
let scripted: ScriptedBackend;
let account: TestAccount;

beforeAll(async () => {
  scripted = await ScriptedBackend.start();
  platform = await Platform.start({
    models: [{ id: 'scripted', pricing: PRICING, backends: [{ url: scripted.url, model: 'scripted' }] }],
  });
  account = await platform.account('1.00');
});

afterAll(async () => {
  await platform.stop();
  await scripted.close();
});

const TEXT = 'five words are in here';

/** Usage and cost of a response whose server reports this, streamed or not. */
async function charged(reported: object, stream: boolean): Promise<Pick<ChatCompletion, 'usage' | 'cost'>> {
  const piece = (member: string): object => ({
    choices: [{ index: 0, [member]: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
    ...reported,
  });
  const script = stream ? { chunks: [piece('delta')] } : { answer: piece('message') };
  // A short maximum is held for as a whole, so the server is asked for what the client asks for.
  const body = { model: 'scripted', messages: [scriptMessage(script)], max_tokens: 1_000, stream };
  const response = await platform.chat(account.apiKey, body);
  expect(response.status).toBe(200);
  if (!stream) return ChatCompletion.parse(await response.json());
  return (await chunksOf(response)).chunks.at(-1) as unknown as ChatCompletion;
}

describe.each([
  ['streamed', true],
  ['in one piece', false],
])('usage of a response that is %s', (_, stream) => {
  it('counts reasoning as output that a server counts only in its total', async () => {
    const usage = { prompt_tokens: 40, completion_tokens: 5, total_tokens: 345 };
    const details = { completion_tokens_details: { reasoning_tokens: 300 } };
    expect(await charged({ usage: { ...usage, ...details } }, stream)).toMatchObject({
      usage: { prompt_tokens: 40, completion_tokens: 305, total_tokens: 345, ...details },
      cost: { usd: (40 * 1 + 305 * 2) / 1e6 },
    });
  });

  it('charges each token of the prompt once, as new, read from the cache or written to it', async () => {
    const details = { cached_tokens: 64, created_cache_tokens: 128, multimodal_tokens: null };
    const usage = {
      prompt_tokens: 218,
      completion_tokens: 1,
      total_tokens: 219,
      prompt_tokens_details: details,
    };
    expect(await charged({ usage }, stream)).toMatchObject({
      usage: {
        prompt_tokens: 218,
        prompt_tokens_details: { cached_tokens: 64, cache_creation_input_tokens: 128 },
      },
      cost: { usd: (26 * 1 + 64 * 0.1 + 128 * 1.25 + 1 * 2) / 1e6 },
    });
  });
});

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, chunksOf, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';
import { ScriptedBackend, scriptMessage } from '../scripted-backend.js';

/** USD per million tokens: a prompt token costs 1,000 nano-dollars, an output token 20,000. */
const PRICING = { input: 1, output: 20 };
/** The tokens of a message in addition to its text, by the documented estimate. */
const MESSAGE_TOKENS = 4;

let platform: Platform;
let scripted: ScriptedBackend;

beforeAll(async () => {
  scripted = await ScriptedBackend.start();
  const backends = [{ url: scripted.url, model: 'scripted' }];
  platform = await Platform.start({
    models: [
      { id: 'counted', pricing: PRICING, tokenizer: 'o200k_base' },
      { id: 'counted-script', pricing: PRICING, tokenizer: 'o200k_base', backends },
      { id: 'estimated-script', pricing: PRICING, backends },
    ],
  });
});

afterAll(async () => {
  await platform.stop();
  await scripted.close();
});

interface Reply {
  choices: { message: { content: string } }[];
  usage: { prompt_tokens: number; completion_tokens: number };
  cost: Cost;
}

const costNano = (cost: Cost): number => Math.round(cost.usd * 1e9);
const priceOf = (promptTokens: number, completionTokens: number): number =>
  promptTokens * 1_000 + completionTokens * 20_000;

describe('a completion without usage from the backend', () => {
  it.each([
    ['plain', '100.00', false],
    ['buffered', '1.00', false],
    ['streamed', '1.00', true],
  ])('is counted with the vocabulary that the catalogue names (%s)', async (_, usd, stream) => {
    const { id, apiKey } = await platform.account(usd);
    const content = 'What’s the weather? 今天天气怎么样？ [[sim fault=missing-usage tokens=300]]';
    const messages = [
      { role: 'system', content: 'You are terse.' },
      { role: 'user', content },
    ];
    const response = await platform.chat(apiKey, { model: 'counted', messages, stream });
    const answer = await answerOf(response, stream);
    const prompt = countTokens('You are terse.') + countTokens(content) + 2 * MESSAGE_TOKENS;
    const completion = countTokens(answer.text);
    expect(answer.usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: completion });
    expect(costNano(answer.cost)).toBe(priceOf(prompt, completion));
    const left = Math.round(Number((await platform.balances(id)).usd) * 1e9);
    expect(left).toBe(Number(usd) * 1e9 - priceOf(prompt, completion));
  });

  it('is counted up to the point where the backend broke off', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const content = 'go [[sim fault=cut-mid-stream after=50]]';
    const body = { model: 'counted', messages: [{ role: 'user', content }], stream: true };
    const { chunks, text } = await chunksOf(await platform.chat(apiKey, body));
    expect(chunks.at(-1)?.error).toMatchObject({ code: 'INFERENCE_FAILED' });
    const cost = priceOf(countTokens(content) + MESSAGE_TOKENS, countTokens(text));
    expect(Math.round(Number((await platform.balances(id)).usd) * 1e9)).toBe(1e9 - cost);
  });

  it('is counted up to what the client received before it disconnected', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const content = 'go [[sim tokens=400 itl-ms=10]]';
    const body = { model: 'counted', messages: [{ role: 'user', content }], stream: true };
    const gone = new AbortController();
    const response = await platform.chat(apiKey, body, { signal: gone.signal });
    const decoder = new TextDecoder();
    let seen = '';
    for await (const bytes of response.body ?? []) {
      seen += decoder.decode(bytes as Uint8Array, { stream: true });
      if (seen.split('"content"').length > 10) break;
    }
    gone.abort();
    const spent = async (): Promise<number> =>
      1e9 - Math.round(Number((await platform.balances(id)).usd) * 1e9);
    await eventually('it is charged', async () => (await spent()) > 0);
    const texts = seen
      .split('\n\n')
      .slice(0, -1)
      .flatMap((frame) => (JSON.parse(frame.slice('data: '.length)) as { choices: Delta[] }).choices);
    const text = texts.map(({ delta }) => delta.content ?? '').join('');
    const prompt = countTokens(content) + MESSAGE_TOKENS;
    const output = ((await spent()) - prompt * 1_000) / 20_000;
    // Bytes in transit when the client disconnected count as well.
    expect(Number.isInteger(output)).toBe(true);
    expect(output).toBeGreaterThanOrEqual(countTokens(text));
    expect(output).toBeLessThan(400);
  });

  it.each([true, false])(
    'counts reasoning, refusals and tool calls, text by text (stream: %s)',
    async (stream) => {
      const { apiKey } = await platform.account('100.00');
      const call = {
        id: 'a',
        type: 'function',
        function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
      };
      const message = { reasoning_content: 'The user asks for weather.', refusal: 'no', content: 'Well' };
      const choice = { index: 0, finish_reason: 'tool_calls' };
      const script = stream
        ? {
            chunks: [
              { choices: [{ index: 0, delta: { reasoning_content: 'The user asks ' } }] },
              { choices: [{ index: 0, delta: { reasoning_content: 'for weather.', refusal: 'no' } }] },
              { choices: [{ index: 0, delta: { content: 'Well', tool_calls: [{ index: 0, ...call }] } }] },
              { choices: [{ ...choice, delta: {} }] },
            ],
          }
        : { answer: { choices: [{ ...choice, message: { ...message, tool_calls: [call] } }] } };
      const messages = [scriptMessage(script)];
      const response = await platform.chat(apiKey, { model: 'counted-script', messages, stream });
      const { usage } = await answerOf(response, stream);
      const texts = ['The user asks for weather.', 'no', 'Well', 'get_weather', '{"city":"Oslo"}'];
      expect(usage.completion_tokens).toBe(texts.reduce((sum, text) => sum + countTokens(text), 0));
      expect(usage.prompt_tokens).toBe(countTokens(messages[0]?.content ?? '') + MESSAGE_TOKENS);
    },
  );

  it('is estimated if the catalogue names no vocabulary', async () => {
    const { apiKey } = await platform.account('100.00');
    const content = 'x'.repeat(320);
    const messages = [scriptMessage({ answer: { choices: [{ message: { content } }] } })];
    const response = await platform.chat(apiKey, { model: 'estimated-script', messages });
    const { usage } = await answerOf(response, false);
    expect(usage).toMatchObject({
      prompt_tokens: Math.ceil(Buffer.byteLength(messages[0]?.content ?? '') / 3.2) + MESSAGE_TOKENS,
      completion_tokens: 100,
    });
  });
});

interface Delta {
  delta: { content?: string };
}

async function answerOf(
  response: Response,
  stream: boolean,
): Promise<{ text: string; usage: Reply['usage']; cost: Cost }> {
  expect(response.status).toBe(200);
  if (stream) {
    const { chunks, text } = await chunksOf(response);
    const { usage, cost } = chunks.at(-1) as unknown as Reply;
    return { text, usage, cost };
  }
  const { choices, usage, cost } = (await response.json()) as Reply;
  return { text: choices[0]?.message.content ?? '', usage, cost };
}

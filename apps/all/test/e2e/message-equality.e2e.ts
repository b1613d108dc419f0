import { type Simulator, startSimulator } from '@svc/simulator';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Completion, type Message, MessageCaller } from '../message-caller.js';
import { messageRequest } from '../message-requests.js';
import { Platform, type TestAccount } from '../platform.js';

let backend: Simulator;
let platform: Platform;
let chatting: TestAccount;
let writing: TestAccount;
let chats: MessageCaller;
let messages: MessageCaller;

beforeAll(async () => {
  // With a cache, the second of two equal requests would cost less.
  backend = await startSimulator({ port: 0, prefixCache: false });
  const on = (model: string) => ({ backends: [{ url: `${backend.url}/v1`, model, maxInFlight: 1_000 }] });
  const sees = { supportsVision: true, supportsMultipleImages: true };
  const uses = { ...sees, supportsFunctionCalling: true, supportsResponseSchema: true };
  const reasons = { ...uses, supportsReasoning: true, supportsReasoningEffort: true };
  platform = await Platform.start({
    housePrompts: ['Be kind.'],
    models: [
      { id: 'plain', ...on('sim'), capabilities: uses },
      { id: 'reasoner', ...on('sim-reason'), capabilities: reasons },
    ],
  });
  chatting = await platform.account('1000.00');
  writing = await platform.account('1000.00');
  chats = new MessageCaller(platform.apiUrl, chatting.apiKey);
  messages = new MessageCaller(platform.apiUrl, writing.apiKey);
});

afterAll(async () => {
  await platform.stop();
  await backend.close();
});

/** What a message says, in the terms of chat completions. */
function essence({ content, stop_reason: stop, usage, cost }: Message): object {
  const textsOf = (type: string, member: 'text' | 'thinking'): string =>
    content.map((block) => (block.type === type ? (block[member] ?? '') : '')).join('');
  const { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output } = usage;
  return {
    text: textsOf('text', 'text'),
    thinking: textsOf('thinking', 'thinking'),
    calls: content.flatMap(({ type, name, input: given }) => (type === 'tool_use' ? [{ name, given }] : [])),
    finish: { end_turn: 'stop', stop_sequence: 'stop', max_tokens: 'length', tool_use: 'tool_calls' }[stop],
    tokens: [Number(input) + Number(cached), cached, output],
    cost,
  };
}

function chatEssence({ choices: [choice], usage, cost }: Completion): object {
  const { message, finish_reason: finish } = choice ?? { message: undefined, finish_reason: '' };
  return {
    text: message?.content ?? '',
    thinking: message?.reasoning_content ?? '',
    calls: (message?.tool_calls ?? []).map(({ function: { name, arguments: written } }) => ({
      name,
      given: inputOf(written),
    })),
    finish,
    tokens: [usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens],
    cost,
  };
}

/** A call that was cut off has incomplete arguments. */
function inputOf(written: string): unknown {
  try {
    return written === '' ? {} : JSON.parse(written);
  } catch {
    return { INVALID_JSON: written };
  }
}

async function spentNano({ id }: TestAccount): Promise<number> {
  const { usd } = await platform.balances(id);
  return Math.round((1_000 - Number(usd)) * 1e9);
}

describe('POST /messages', () => {
  it('says and costs what the same chat completion says and costs, whole and streamed', async () => {
    await fc.assert(
      fc.asyncProperty(messageRequest, async ({ message, chat }) => {
        const completion = await chats.post('/chat/completions', chat);
        expect(completion.status).toBe(200);
        const expected = chatEssence((await completion.json()) as Completion);
        expect(essence(await messages.whole(message))).toEqual(expected);
        const { message: live } = await messages.streamed(message);
        // The client completes the arguments of a call that was cut off.
        const compared = (value: object): object =>
          live.stop_reason === 'max_tokens' ? { ...value, calls: [] } : value;
        expect(compared(essence(live))).toEqual(compared(expected));
      }),
      { numRuns: repeats('MESSAGES') },
    );
    // Each request of the one account has two of the other, to the nano-dollar.
    expect(await spentNano(chatting)).toBeGreaterThan(0);
    await expect.poll(() => spentNano(writing)).toBe(2 * (await spentNano(chatting)));
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});

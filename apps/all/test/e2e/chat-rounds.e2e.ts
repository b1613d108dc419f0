import { ContextOverflowError } from '@langchain/core/errors';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Platform, type TestAccount } from '../platform.js';

const model = 'test-model';
const SAID = 'héllo wörld 🙂';
const SAY = `Reply exactly: ${SAID}`;
const WEATHER = 'sunny, 21 degrees';
const ASK_WEATHER = 'What is the weather in Oslo?';
/** The simulator rejects this as a prompt that is longer than the model's context. */
const TOO_LONG = '[[sim fault=context_length]]';

const Trip = z.object({ city: z.string(), days: z.int() });

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const description = 'The weather of a city';

let platform: Platform;
let account: TestAccount;
let image: string;

beforeAll(async () => {
  platform = await Platform.start();
  account = await platform.account('100.00');
  const create = { width: 64, height: 64, channels: 3, background: 'red' } as const;
  image = `data:image/png;base64,${(await sharp({ create }).png().toBuffer()).toString('base64')}`;
});

afterAll(() => platform.stop());

const thrown = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (reason: unknown) => reason,
  );

describe('openai, as in its examples', () => {
  const user = (content: string) => [{ role: 'user' as const, content }];
  const tools = [{ type: 'function' as const, function: { name: 'get_weather', description, parameters } }];

  it('chats', async () => {
    const { choices, usage } = await account.openai.chat.completions.create({ model, messages: user(SAY) });
    expect(choices[0]).toMatchObject({ message: { content: SAID }, finish_reason: 'stop' });
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
  });

  it.each([undefined, false])(
    'streams in a loop over choices[0] if usage is not requested (%s)',
    async (include_usage) => {
      const options = include_usage === undefined ? {} : { stream_options: { include_usage } };
      const body = { model, messages: user(SAY), stream: true, ...options } as const;
      let text = '';
      let finish: string | null = null;
      for await (const chunk of await account.openai.chat.completions.create(body)) {
        // As in the client's README. It would fail on a chunk without choices.
        const { delta, finish_reason: reason } = chunk.choices[0] as (typeof chunk.choices)[0];
        text += delta.content ?? '';
        finish = reason ?? finish;
      }
      expect({ text, finish }).toEqual({ text: SAID, finish: 'stop' });
    },
  );

  it('streams usage in a last chunk without choices if requested', async () => {
    const options = { stream: true, stream_options: { include_usage: true } } as const;
    const body = { model, messages: user(SAY), ...options };
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await account.openai.chat.completions.create(body)) chunks.push(chunk);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(chunks.slice(0, -1).every(({ choices }) => choices.length === 1)).toBe(true);
  });

  it('calls a tool and uses its result', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = user(ASK_WEATHER);
    const first = await account.openai.chat.completions.create({ model, messages, tools });
    const [choice] = first.choices;
    const [call] = choice?.message.tool_calls ?? [];
    if (!choice || call?.type !== 'function') throw new Error('nothing was called');
    expect([choice.finish_reason, call.function.name]).toEqual(['tool_calls', 'get_weather']);
    messages.push(choice.message, { role: 'tool', tool_call_id: call.id, content: WEATHER });
    const response = await account.openai.chat.completions.create({ model, messages, tools });
    expect(response.choices[0]?.message.content).toContain(WEATHER);
  });

  it('parses a response with a given schema', async () => {
    const response_format = zodResponseFormat(Trip, 'trip');
    const request = { model, messages: user('Plan a trip'), response_format };
    const { choices } = await account.openai.chat.completions.parse(request);
    expect(Trip.parse(choices[0]?.message.parsed)).toEqual(choices[0]?.message.parsed);
  });

  it('reports a prompt that is too long by its code', async () => {
    const error = await thrown(account.openai.chat.completions.create({ model, messages: user(TOO_LONG) }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'context_length_exceeded', param: 'messages' });
  });
});

describe('@langchain/openai', () => {
  const chat = (options: { apiKey?: string; streamUsage?: boolean } = {}): ChatOpenAI =>
    new ChatOpenAI({
      model,
      apiKey: account.apiKey,
      configuration: { baseURL: platform.apiUrl },
      maxRetries: 0,
      ...options,
    });

  it('chats, and returns usage', async () => {
    const { content, usage_metadata: usage } = await chat().invoke(SAY);
    expect(content).toBe(SAID);
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });

  it.each([true, false])('streams (usage requested: %s)', async (streamUsage) => {
    let text = '';
    for await (const chunk of await chat({ streamUsage }).stream(SAY)) text += chunk.text;
    expect(text).toBe(SAID);
  });

  it('calls a tool and uses its result', async () => {
    const getWeather = tool(() => WEATHER, {
      name: 'get_weather',
      description,
      schema: z.object({ city: z.string() }),
    });
    const bound = chat().bindTools([getWeather]);
    const turn = await bound.invoke([new HumanMessage(ASK_WEATHER)]);
    const [call] = turn.tool_calls ?? [];
    expect(call).toMatchObject({ name: 'get_weather', args: { city: expect.any(String) } });
    const result = new ToolMessage({ content: WEATHER, tool_call_id: call?.id ?? '' });
    const response = await bound.invoke([new HumanMessage(ASK_WEATHER), turn, result]);
    expect(response.content).toContain(WEATHER);
  });

  it('parses a response with a given schema', async () => {
    const trip = await chat().withStructuredOutput(Trip).invoke('Plan a trip');
    expect(Trip.parse(trip)).toEqual(trip);
  });

  it('accepts an image', async () => {
    const content = [
      { type: 'text' as const, text: SAY },
      { type: 'image_url' as const, image_url: { url: image } },
    ];
    expect((await chat().invoke([new HumanMessage({ content })])).content).toBe(SAID);
  });

  it('throws its error for a wrong key', async () => {
    const error = await thrown(chat({ apiKey: 'SVC_INFERENCE_KEY_wrong' }).invoke(SAY));
    expect(error).toMatchObject({ status: 401, lc_error_code: 'MODEL_AUTHENTICATION' });
  });

  it.each([false, true])('throws a ContextOverflowError (stream: %s)', async (stream) => {
    const error = await thrown(stream ? chat().stream(TOO_LONG) : chat().invoke(TOO_LONG));
    expect(ContextOverflowError.isInstance(error)).toBe(true);
  });
});

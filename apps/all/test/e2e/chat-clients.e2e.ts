import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, Output, generateText, isStepCount, streamText, tool } from 'ai';
import OpenAI from 'openai';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Platform, type TestAccount } from '../platform.js';

const model = 'test-model';
const messages = [{ role: 'user' as const, content: 'Reply exactly: héllo wörld 🙂' }];

const Trip = z.object({ city: z.string(), days: z.int().min(1).max(9), tags: z.array(z.string()) });

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  platform = await Platform.start({
    models: [{ id: 'small-limit', tier: 'S', maxCompletionTokens: 100 }],
  });
  account = await platform.account('100.00');
});

afterEach(() => platform.simulator.setFaults({}));

afterAll(() => platform.stop());

/** A red square. */
async function image(pixels: number): Promise<Buffer> {
  const create = { width: pixels, height: pixels, channels: 3, background: 'red' } as const;
  return sharp({ create }).png().toBuffer();
}

describe('@ai-sdk/openai-compatible', () => {
  const provider = (apiKey = account.apiKey) =>
    createOpenAICompatible({
      name: 'svc',
      baseURL: platform.apiUrl,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });

  it('generates text, and returns usage', async () => {
    const { text, usage, finishReason } = await generateText({ model: provider()(model), messages });
    expect({ text, finishReason }).toEqual({ text: 'héllo wörld 🙂', finishReason: 'stop' });
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
  });

  it('streams the same text, with the same usage', async () => {
    const whole = await generateText({ model: provider()(model), messages });
    const streamed = streamText({ model: provider()(model), messages });
    let text = '';
    for await (const delta of streamed.textStream) text += delta;
    expect(text).toBe(whole.text);
    expect(await streamed.finishReason).toBe('stop');
    const { inputTokens, outputTokens } = await streamed.usage;
    expect({ inputTokens, outputTokens }).toEqual({
      inputTokens: whole.usage.inputTokens,
      outputTokens: whole.usage.outputTokens,
    });
  });

  it.each([true, false])('calls tools until the final completion (stream: %s)', async (stream) => {
    const inputs: unknown[] = [];
    const tools = {
      get_weather: tool({
        description: 'The weather of a city',
        inputSchema: z.object({ city: z.string() }),
        execute: (input) => {
          inputs.push(input);
          return Promise.resolve('sunny, 21 degrees');
        },
      }),
    };
    const options = {
      model: provider()(model),
      prompt: 'What is the weather in Oslo?',
      tools,
      stopWhen: isStepCount(3),
    };
    const text = stream ? await streamText(options).text : (await generateText(options)).text;
    expect(text).toContain('sunny, 21 degrees');
    expect(inputs).toEqual([{ city: expect.any(String) }]);
  });

  it('generates objects that match a schema, with and without streaming', async () => {
    const options = {
      model: provider()(model),
      prompt: 'Plan a trip',
      output: Output.object({ schema: Trip }),
    };
    const { output } = await generateText(options);
    expect(Trip.parse(output)).toEqual(output);
    expect(await streamText(options).output).toEqual(output);
    const sent = JSON.parse(platform.simulator.requests().at(-1)?.body ?? '{}') as Record<string, unknown>;
    expect(sent['response_format']).toMatchObject({ type: 'json_schema' });
  });

  it('sends images', async () => {
    const data = await image(64);
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'file' as const, mediaType: 'image/png', data },
    ];
    const { text } = await generateText({ model: provider()(model), messages: [{ role: 'user', content }] });
    expect(text).not.toBe('');
  });

  it('returns the error, and whether it can be retried', async () => {
    const error: unknown = await generateText({
      model: provider()('no-such'),
      messages,
      maxRetries: 0,
    }).catch((reason: unknown) => reason);
    if (!APICallError.isInstance(error)) throw error;
    expect(error).toMatchObject({ statusCode: 404, isRetryable: false });
    expect(error.message).toContain('no-such');
    expect(error.data).toMatchObject({ error: { code: 'MODEL_NOT_FOUND' } });
  });

  it('retries when the model is at capacity', async () => {
    platform.simulator.setFaults({ faults: ['503'], retryAfterS: 1 }, 1);
    const { text } = await generateText({ model: provider()(model), messages, maxRetries: 1 });
    expect(text).toBe('héllo wörld 🙂');
  });
});

/** The error that the openai client throws. */
async function thrownBy(client: OpenAI, modelId: string = model): Promise<unknown> {
  return client.chat.completions.create({ model: modelId, messages }).then(
    () => {
      throw new Error('it was answered');
    },
    (reason: unknown) => reason,
  );
}

describe('openai', () => {
  const client = (options: { apiKey?: string; maxRetries?: number } = {}): OpenAI =>
    new OpenAI({ apiKey: account.apiKey, baseURL: platform.apiUrl, maxRetries: 0, ...options });

  it('returns the request id, which is the id of the completion', async () => {
    const response = await client().chat.completions.create({ model, messages });
    expect(response._request_id).toBe(response.id);
  });

  it('throws an AuthenticationError on a wrong key', async () => {
    const error = await thrownBy(client({ apiKey: 'SVC_INFERENCE_KEY_wrong' }));
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({
      status: 401,
      code: 'AUTHENTICATION_FAILED',
      type: 'authentication_error',
      requestID: expect.stringMatching(/^chatcmpl-/),
    });
  });

  it('throws a NotFoundError that names the field on an unknown model', async () => {
    const error = await thrownBy(client(), 'no-such');
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ status: 404, code: 'MODEL_NOT_FOUND', param: 'model' });
  });

  it('throws a BadRequestError that names the field on a wrong value', async () => {
    const error = await client()
      .chat.completions.create({ model, messages, temperature: 9 })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, code: 'INVALID_REQUEST', param: 'temperature' });
  });

  it('throws an APIError with status 402 and a code when the balance is 0', async () => {
    const { apiKey } = await platform.account('0');
    const error = await thrownBy(client({ apiKey }));
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ status: 402, code: 'INSUFFICIENT_BALANCE', type: 'insufficient_balance' });
  });

  it('throws a RateLimitError with the time to retry', async () => {
    // More than two windows admit, wherever the minute ends.
    const outcomes = Array.from({ length: 7 }, () => thrownOrAnswered(client()));
    const error = (await Promise.all(outcomes)).find((outcome) => outcome instanceof OpenAI.RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'RATE_LIMIT_EXCEEDED', type: 'rate_limit_error' });
    expect(Number(error?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('throws an InternalServerError when inference fails', async () => {
    platform.simulator.setFaults({ faults: ['500'] }, 1);
    const error = await thrownBy(client());
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 500, code: 'INFERENCE_FAILED' });
  });

  it('throws an error in the middle of a stream', async () => {
    const faulty = [{ role: 'user' as const, content: 'go [[sim fault=error-mid-stream after=3 itl-ms=5]]' }];
    const stream = await client().chat.completions.create({ model, messages: faulty, stream: true });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.choices).toEqual(expect.any(Array));
    };
    await expect(read()).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
  });

  it('retries after the time in the response, and no sooner', async () => {
    platform.simulator.setFaults({ faults: ['503'], retryAfterS: 2 }, 1);
    const startedMs = performance.now();
    const response = await client({ maxRetries: 1 }).chat.completions.create({ model, messages });
    expect(response.choices[0]?.message.content).toBe('héllo wörld 🙂');
    // Its own delay would be less than a second.
    expect(performance.now() - startedMs).toBeGreaterThan(1_900);
  });

  it.each([true, false])('accepts images as data URLs (stream: %s)', async (stream) => {
    const url = `data:image/png;base64,${(await image(64)).toString('base64')}`;
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'image_url' as const, image_url: { url, detail: 'low' as const } },
    ];
    const body = { model, messages: [{ role: 'user' as const, content }] };
    const response = stream
      ? await client().chat.completions.stream(body).finalChatCompletion()
      : await client().chat.completions.create(body);
    expect(response.choices[0]?.message.content).not.toBe('');
    expect(platform.simulator.requests().at(-1)?.body).toContain('data:image/png;base64,');
  });

  it('throws a BadRequestError on an image that is too small', async () => {
    const url = `data:image/png;base64,${(await image(63)).toString('base64')}`;
    const content = [{ type: 'image_url' as const, image_url: { url } }];
    const error = await client()
      .chat.completions.create({ model, messages: [{ role: 'user', content }] })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(String(error)).toContain('Supplied image did not pass validation checks.');
  });

  it('lists models', async () => {
    const ids: string[] = [];
    for await (const { id } of client().models.list()) ids.push(id);
    expect(ids).toContain(model);
  });
});

/** The outcome of a request for the model with a low limit. */
async function thrownOrAnswered(client: OpenAI): Promise<unknown> {
  return client.chat.completions
    .create({ model: 'small-limit', messages, max_completion_tokens: 10 })
    .catch((reason: unknown) => reason);
}

import { createOpenAI } from '@ai-sdk/openai';
import { Agent, OpenAIProvider, Runner, tool as agentTool } from '@openai/agents';
import { APICallError, Output, generateText, isStepCount, streamText, tool } from 'ai';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Platform, type TestAccount } from '../platform.js';

const model = 'test-model';
const prompt = 'Reply exactly: héllo wörld 🙂';
const SAID = 'héllo wörld 🙂';

const Trip = z.object({ city: z.string(), days: z.int().min(1).max(9) });

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  platform = await Platform.start();
  account = await platform.account('100.00');
});

afterAll(() => platform.stop());

async function image(): Promise<Buffer> {
  const create = { width: 64, height: 64, channels: 3, background: 'red' } as const;
  return sharp({ create }).png().toBuffer();
}

describe('@ai-sdk/openai, which uses responses by default', () => {
  const provider = () => createOpenAI({ baseURL: platform.apiUrl, apiKey: account.apiKey });
  // Otherwise it refers to items that it takes for stored.
  const providerOptions = { openai: { store: false } };

  it('generates text, and returns usage', async () => {
    const { text, usage, finishReason } = await generateText({ model: provider()(model), prompt });
    expect({ text, finishReason }).toEqual({ text: SAID, finishReason: 'stop' });
    expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
  });

  it('streams the same text, with the same usage', async () => {
    const whole = await generateText({ model: provider()(model), prompt });
    const streamed = streamText({ model: provider()(model), prompt });
    expect(await streamed.text).toBe(whole.text);
    const { inputTokens, outputTokens } = await streamed.usage;
    expect([inputTokens, outputTokens]).toEqual([whole.usage.inputTokens, whole.usage.outputTokens]);
  });

  it.each([true, false])('calls tools until the final text (stream: %s)', async (stream) => {
    const inputs: unknown[] = [];
    const tools = {
      get_weather: tool({
        description: 'The weather of a city',
        inputSchema: z.object({ city: z.string() }),
        execute: (given) => {
          inputs.push(given);
          return Promise.resolve('sunny, 21 degrees');
        },
      }),
    };
    const options = {
      model: provider()(model),
      prompt: 'What is the weather in Oslo?',
      tools,
      providerOptions,
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
  });

  it('sends images', async () => {
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'file' as const, mediaType: 'image/png', data: await image() },
    ];
    const { text } = await generateText({ model: provider()(model), messages: [{ role: 'user', content }] });
    expect(text).not.toBe('');
    expect(platform.simulator.requests().at(-1)?.body).toContain('data:image/png;base64,');
  });

  it('returns the error, and whether it can be retried', async () => {
    const error: unknown = await generateText({
      model: provider()('no-such'),
      prompt,
      maxRetries: 0,
    }).catch((reason: unknown) => reason);
    if (!APICallError.isInstance(error)) throw error;
    expect(error).toMatchObject({ statusCode: 404, isRetryable: false });
    expect(error.message).toContain('no-such');
  });
});

describe('@openai/agents', () => {
  const runner = (): Runner => {
    const modelProvider = new OpenAIProvider({
      apiKey: account.apiKey,
      baseURL: platform.apiUrl,
      useResponses: true,
    });
    return new Runner({ modelProvider, tracingDisabled: true });
  };

  it('runs an agent', async () => {
    const agent = new Agent({ name: 'a', instructions: 'Be brief.', model });
    expect((await runner().run(agent, prompt)).finalOutput).toBe(SAID);
  });

  it('streams the text of an agent', async () => {
    const result = await runner().run(new Agent({ name: 'a', model }), prompt, { stream: true });
    let text = '';
    for await (const delta of result.toTextStream()) text += delta;
    expect(text).toBe(SAID);
  });

  it.each([true, false])('calls tools until the final output (stream: %s)', async (stream) => {
    const inputs: unknown[] = [];
    const weather = agentTool({
      name: 'get_weather',
      description: 'The weather of a city',
      parameters: z.object({ city: z.string() }),
      execute: (given) => {
        inputs.push(given);
        return 'sunny, 21 degrees';
      },
    });
    const agent = new Agent({ name: 'a', model, tools: [weather] });
    const question = 'What is the weather in Oslo?';
    const output = stream
      ? await streamedOutput(runner(), agent, question)
      : (await runner().run(agent, question)).finalOutput;
    expect(output).toContain('sunny, 21 degrees');
    expect(inputs).toEqual([{ city: expect.any(String) }]);
  });

  it('returns an object that matches a schema', async () => {
    const agent = new Agent({ name: 'a', model, outputType: Trip });
    const { finalOutput } = await runner().run(agent, 'Plan a trip');
    expect(Trip.parse(finalOutput)).toEqual(finalOutput);
  });

  it('sends images', async () => {
    const url = `data:image/png;base64,${(await image()).toString('base64')}`;
    const content = [
      { type: 'input_text' as const, text: 'What is this?' },
      { type: 'input_image' as const, image: url },
    ];
    const { finalOutput } = await runner().run(new Agent({ name: 'a', model }), [{ role: 'user', content }]);
    expect(finalOutput).not.toBe('');
    expect(platform.simulator.requests().at(-1)?.body).toContain('data:image/png;base64,');
  });

  it('throws the error of the service', async () => {
    const agent = new Agent({ name: 'a', model: 'no-such' });
    await expect(runner().run(agent, prompt)).rejects.toMatchObject({ status: 404, code: 'MODEL_NOT_FOUND' });
  });
});

async function streamedOutput(runner: Runner, agent: Agent, question: string): Promise<string | undefined> {
  const result = await runner.run(agent, question, { stream: true });
  await result.completed;
  return result.finalOutput;
}

import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';

const model = 'test-model';
const prompt = 'Reply exactly: héllo wörld 🙂';
const body = { model, prompt, max_tokens: 40 };

interface Priced {
  readonly cost: { readonly usd: number; readonly diem: number };
  readonly svc_parameters: Readonly<Record<string, unknown>>;
}

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  platform = await Platform.start({ housePrompts: ['Be kind.'] });
  account = await platform.account('100.00');
});

afterEach(() => platform.simulator.setFaults({}));

afterAll(() => platform.stop());

/** The completion of a stream: its text, how it ended, and its last event. */
async function streamed(
  client: OpenAI,
  request: Omit<OpenAI.CompletionCreateParamsNonStreaming, 'stream'>,
): Promise<{ text: string; last: OpenAI.Completion & Priced }> {
  let text = '';
  let last: OpenAI.Completion | undefined;
  for await (const chunk of await client.completions.create({ ...request, stream: true })) {
    text += chunk.choices[0]?.text ?? '';
    last = chunk;
  }
  if (!last) throw new Error('the stream had no events');
  return { text, last: last as OpenAI.Completion & Priced };
}

function post(request: object, apiKey = account.apiKey): Promise<Response> {
  return fetch(`${platform.apiUrl}/completions`, {
    method: 'POST',
    body: JSON.stringify(request),
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  });
}

describe('POST /completions', () => {
  it('returns the text with its usage and its cost', async () => {
    const answer = (await account.openai.completions.create(body)) as OpenAI.Completion & Priced;
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      model,
      choices: [{ index: 0, text: 'héllo wörld 🙂', logprobs: null, finish_reason: 'stop' }],
      usage: { completion_tokens: expect.any(Number) },
    });
    expect(answer.cost.usd).toBeGreaterThan(0);
    expect(answer.svc_parameters).toMatchObject({ enable_web_search: 'off' });
  });

  it('streams the same text for the same price', async () => {
    const whole = (await account.openai.completions.create(body)) as OpenAI.Completion & Priced;
    const { text, last } = await streamed(account.openai, body);
    expect(text).toBe(whole.choices[0]?.text);
    expect(last).toMatchObject({ object: 'text_completion', usage: whole.usage, cost: whole.cost });
    expect(last.choices[0]?.finish_reason).toBe('stop');
  });

  it.each([1, 3])('costs what a chat completion of the same message costs (n: %i)', async (n) => {
    const messages = [{ role: 'user' as const, content: prompt }];
    const request = { model, messages, max_completion_tokens: 40, n };
    const chat = await account.openai.chat.completions.create(request);
    const text = (await account.openai.completions.create({ ...body, n })) as OpenAI.Completion & Priced;
    expect(text.usage).toEqual(chat.usage);
    expect(text.cost).toEqual((chat as unknown as Priced).cost);
  });

  it('sends usage in an event of its own if the client asks for that', async () => {
    const request = { ...body, stream: true as const, stream_options: { include_usage: true } };
    const chunks: OpenAI.Completion[] = [];
    for await (const chunk of await account.openai.completions.create(request)) chunks.push(chunk);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(chunks.at(-2)?.usage).toBeUndefined();
  });

  it.each([true, false])('repeats the prompt before each choice with `echo` (stream: %s)', async (stream) => {
    const request = { ...body, echo: true };
    const text = stream
      ? (await streamed(account.openai, request)).text
      : (await account.openai.completions.create(request)).choices[0]?.text;
    expect(text).toBe(`${prompt}héllo wörld 🙂`);
  });

  it('generates `n` choices, each after the repeated prompt', async () => {
    const { choices } = await account.openai.completions.create({ ...body, n: 3, best_of: 3, echo: true });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    for (const { text } of choices) expect(text.startsWith(prompt)).toBe(true);
  });

  it.each([true, false])('places each token of `logprobs` in the text (stream: %s)', async (stream) => {
    const request = { ...body, logprobs: 2 };
    const tokens: string[] = [];
    const offsets: number[] = [];
    let text = '';
    const read = ({ choices: [choice] }: OpenAI.Completion): void => {
      text += choice?.text ?? '';
      tokens.push(...(choice?.logprobs?.tokens ?? []));
      offsets.push(...(choice?.logprobs?.text_offset ?? []));
    };
    if (!stream) read(await account.openai.completions.create(request));
    else
      for await (const chunk of await account.openai.completions.create({ ...request, stream: true }))
        read(chunk);
    expect(tokens.length).toBeGreaterThan(1);
    for (const [at, token] of tokens.entries())
      expect(text.slice(offsets[at], (offsets[at] ?? 0) + token.length)).toBe(token);
  });

  it('sends the prompt as the message of a user, after the house prompts', async () => {
    await account.openai.completions.create({ ...body, prompt: ['hi'], temperature: 0.25 });
    const sent = JSON.parse(platform.simulator.requests().at(-1)?.body ?? '{}') as object;
    expect(sent).toMatchObject({
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'hi' },
      ],
      temperature: 0.25,
      max_tokens: 40,
    });
    expect(Object.keys(sent)).not.toContain('prompt');
  });

  it('generates 16 tokens by default', async () => {
    const { usage, choices } = await account.openai.completions.create({ model, prompt: 'Tell a story' });
    expect(usage?.completion_tokens).toBe(16);
    expect(choices[0]?.finish_reason).toBe('length');
  });

  it('takes options of the service from its parameters and from the model suffix', async () => {
    const suffixed = `${model}:include_venice_system_prompt=false`;
    const answer = (await account.openai.completions.create({ ...body, model: suffixed })) as unknown;
    expect((answer as Priced).svc_parameters).toMatchObject({ include_venice_system_prompt: false });
    const response = await post({ ...body, svc_parameters: { strip_thinking_response: true } });
    expect(await response.json()).toMatchObject({ svc_parameters: { strip_thinking_response: true } });
  });

  it('passes unknown fields to the backend as they are', async () => {
    await post({ ...body, guided_regex: 'a+', min_tokens: 3 });
    const sent = platform.simulator.requests().at(-1)?.body ?? '';
    expect(JSON.parse(sent)).toMatchObject({ guided_regex: 'a+', min_tokens: 3 });
  });

  it.each([
    ['suffix', { suffix: 'end' }, 'suffix'],
    ['several prompts', { prompt: ['a', 'b'] }, 'prompt'],
    ['tokens as a prompt', { prompt: [[1, 2]] }, 'prompt.0'],
    ['a `best_of` that is not `n`', { n: 1, best_of: 2 }, 'best_of'],
    ['log probabilities of the prompt', { echo: true, logprobs: 1 }, 'logprobs'],
    ['no output', { max_tokens: 0 }, 'max_tokens'],
    ['messages', { messages: [{ role: 'user', content: 'hi' }] }, 'messages'],
    ['another spelling of a field', { Prompt: 'hi' }, 'Prompt'],
    ['a seed of more than 64 bits', { seed: 2 ** 70 }, 'seed'],
  ])('refuses %s, and names the field', async (_what, fields, param) => {
    const response = await post({ ...body, ...fields });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', error: { param } });
  });

  it('throws errors that the client knows', async () => {
    const { openai } = account;
    await expect(openai.completions.create({ ...body, model: 'no-such' })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    platform.simulator.setFaults({ faults: ['500'] }, 1);
    await expect(openai.completions.create(body)).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    const faulty = 'go [[sim fault=error-mid-stream after=3 itl-ms=5]]';
    await expect(streamed(openai, { ...body, prompt: faulty })).rejects.toMatchObject({
      code: 'INFERENCE_FAILED',
    });
  });
});

describe('@ai-sdk/openai, with text completions', () => {
  const completion = (id = model) =>
    createOpenAI({ baseURL: platform.apiUrl, apiKey: account.apiKey }).completion(id);

  it('generates and streams a text with its usage', async () => {
    const { text, usage, finishReason } = await generateText({ model: completion(), prompt: 'Tell a story' });
    expect(text).not.toBe('');
    expect(finishReason).toBe('length');
    const streamed = streamText({ model: completion(), prompt: 'Tell a story' });
    expect(await streamed.text).toBe(text);
    expect((await streamed.usage).outputTokens).toBe(usage.outputTokens);
  });

  it('throws the error of the service', async () => {
    const asking = generateText({ model: completion('no-such'), prompt, maxRetries: 0 });
    const error: unknown = await asking.catch((reason: unknown) => reason);
    if (!APICallError.isInstance(error)) throw error;
    expect(error).toMatchObject({ statusCode: 404, isRetryable: false });
  });
});

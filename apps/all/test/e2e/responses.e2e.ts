import type {
  Response as Answer,
  ResponseCreateParamsNonStreaming,
} from 'openai/resources/responses/responses';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ABLE_MODEL, Platform, type TestAccount } from '../platform.js';

const model = 'able';
const input = 'Reply exactly: héllo wörld 🙂';

interface Event {
  readonly type: string;
  readonly sequence_number: number;
  readonly [name: string]: unknown;
}

/** The fields of a request, whose items may be those of a response. */
type Fields = Omit<ResponseCreateParamsNonStreaming, 'model' | 'input'> & {
  readonly input: string | readonly object[];
};

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  platform = await Platform.start({ models: [ABLE_MODEL], housePrompts: ['Be kind.'] });
  account = await platform.account('100.00');
});

afterEach(() => platform.simulator.setFaults({}));

afterAll(() => platform.stop());

function post(request: object): Promise<Response> {
  return fetch(`${platform.apiUrl}/responses`, {
    method: 'POST',
    body: JSON.stringify({ model, input, ...request }),
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
  });
}

/** The events of a stream, as their names and data. */
async function eventsOf(request: object): Promise<Event[]> {
  const text = await (await post({ ...request, stream: true })).text();
  const frames = text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'));
  expect(frames.pop()).toBe('data: [DONE]');
  return frames.map((frame) => {
    const [name = '', data = ''] = frame.split('\n');
    const event = JSON.parse(data.slice('data: '.length)) as Event;
    expect(name).toBe(`event: ${event.type}`);
    return event;
  });
}

/** The response whole, or as the client assembles it from a stream. */
function answered(fields: Fields, stream: boolean): Promise<Answer> {
  const body = { model, ...fields } as ResponseCreateParamsNonStreaming;
  return stream
    ? account.openai.responses.stream({ ...body, stream: true }).finalResponse()
    : account.openai.responses.create(body);
}

/** The body of the last request that the backend has got. */
const sent = (): Record<string, unknown> =>
  JSON.parse(platform.simulator.requests().at(-1)?.body ?? '{}') as Record<string, unknown>;

const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
};

describe.each([false, true])('POST /responses (stream: %s)', (stream) => {
  it('returns the text with its usage and its cost', async () => {
    const answer = await answered({ input }, stream);
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      status: 'completed',
      model,
      output_text: 'héllo wörld 🙂',
      store: false,
      usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
      cost: { usd: expect.any(Number) },
      svc_parameters: { enable_web_search: 'off' },
    });
    const { input_tokens: prompt = 0, output_tokens: output = 0, total_tokens: total } = answer.usage ?? {};
    expect(total).toBe(prompt + output);
  });

  it('calls a function, and takes its output', async () => {
    const question = { role: 'user' as const, content: 'What is the weather in Oslo?' };
    const first = await answered({ input: [question], tools: [weather] }, stream);
    const call = first.output.find((item) => item.type === 'function_call');
    expect(call).toMatchObject({ name: 'get_weather', status: 'completed' });
    expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: expect.any(String) });
    const output = {
      type: 'function_call_output' as const,
      call_id: call?.call_id ?? '',
      output: 'sunny, 21 degrees',
    };
    const last = await answered({ input: [question, ...first.output, output], tools: [weather] }, stream);
    expect(last.output_text).toContain('sunny, 21 degrees');
    expect(sent()['messages']).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: call?.call_id, function: { name: 'get_weather' } }] },
      { role: 'tool', tool_call_id: call?.call_id, content: 'sunny, 21 degrees' },
    ]);
  });

  it('calls a custom tool with a text, of a model that knows only functions', async () => {
    const tool = { type: 'custom' as const, name: 'run', description: 'Runs a script' };
    const fields = {
      input: [{ role: 'user' as const, content: 'Run it' }],
      tools: [tool],
      tool_choice: { type: 'custom' as const, name: 'run' },
    };
    const first = await answered(fields, stream);
    const call = first.output.find((item) => item.type === 'custom_tool_call');
    expect(call).toMatchObject({ name: 'run', call_id: expect.any(String), input: expect.any(String) });
    expect(sent()).toMatchObject({
      tools: [{ type: 'function', function: { name: 'run' } }],
      tool_choice: { type: 'function', function: { name: 'run' } },
    });
    const output = {
      type: 'custom_tool_call_output' as const,
      call_id: call?.call_id ?? '',
      output: 'it ran well',
    };
    const last = await answered({ input: [...fields.input, ...first.output, output], tools: [tool] }, stream);
    expect(last.output_text).toContain('it ran well');
    const [, , reply] = sent()['messages'] as { tool_calls?: { function: { arguments: string } }[] }[];
    expect(JSON.parse(reply?.tool_calls?.[0]?.function.arguments ?? '')).toEqual({ input: call?.input });
  });

  it('calls the tools of a namespace, whose names may also be used outside of it', async () => {
    const script = { type: 'custom' as const, name: 'run', description: 'Runs a script' };
    const tools = [
      { type: 'namespace' as const, name: 'remote', description: 'Other places', tools: [weather, script] },
      { ...script, description: 'Runs a script here' },
    ];
    const question = { role: 'user' as const, content: 'What is the weather in Oslo?' };
    const first = await answered({ input: [question], tools }, stream);
    const call = first.output.find((item) => item.type === 'function_call');
    expect(call).toMatchObject({ name: 'get_weather', namespace: 'remote', status: 'completed' });
    expect(sent()['tools']).toMatchObject([
      { type: 'function', function: { name: 'remote__get_weather', parameters: weather.parameters } },
      { type: 'function', function: { name: 'remote__run' } },
      { type: 'function', function: { name: 'run' } },
    ]);
    const output = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'sunny' };
    await answered({ input: [question, ...first.output, output], tools }, stream);
    expect(sent()['messages']).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { name: 'remote__get_weather' } }] },
      { role: 'tool' },
    ]);
  });

  it('returns JSON of a schema', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const text = { format: { type: 'json_schema' as const, name: 'trip', schema, strict: true } };
    const answer = await answered({ input: 'Plan a trip', text }, stream);
    expect(JSON.parse(answer.output_text)).toEqual({ city: expect.any(String) });
    expect(sent()['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'trip', schema, strict: true },
    });
  });

  it('accepts images and files', async () => {
    const create = { width: 64, height: 64, channels: 3, background: 'red' } as const;
    const png = (await sharp({ create }).png().toBuffer()).toString('base64');
    const answer = await account.openai.responses.create({
      model,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'low' },
            {
              type: 'input_file',
              filename: 'note.txt',
              file_data: `data:text/plain;base64,${Buffer.from('from a file').toString('base64')}`,
            },
          ],
        },
      ],
    });
    expect(answer.output_text).not.toBe('');
    const body = platform.simulator.requests().at(-1)?.body ?? '';
    expect(body).toContain('data:image/png;base64,');
    expect(body).toContain('from a file');
  });

  it('shows reasoning as an item, as a summary if the client asks for one, and takes it back', async () => {
    const fields = { input: [{ role: 'user' as const, content: 'hi [[sim think=6]]' }] };
    const plain = await answered(fields, stream);
    const [thought, message] = plain.output;
    expect(thought).toMatchObject({ type: 'reasoning', content: [{ type: 'reasoning_text' }], summary: [] });
    expect(message?.type).toBe('message');
    const { output } = await answered({ ...fields, reasoning: { summary: 'auto' } }, stream);
    expect(output[0]).toMatchObject({ type: 'reasoning', summary: [{ type: 'summary_text' }] });
    await answered({ input: [...fields.input, ...plain.output, ...fields.input] }, stream);
    const [, , reply] = sent()['messages'] as { reasoning_content?: string; content?: unknown }[];
    expect(reply).toMatchObject({ role: 'assistant', reasoning_content: expect.any(String) });
  });

  it('returns the signatures of reasoning as encrypted_content, and sends them back to the model', async () => {
    const question = { role: 'user' as const, content: 'hi [[sim think=6 reasoning-details=true]]' };
    const include = ['reasoning.encrypted_content' as const];
    const first = await answered({ input: [question], include, store: false }, stream);
    const [thought] = first.output;
    expect(thought).toMatchObject({ type: 'reasoning', encrypted_content: expect.stringMatching(/./) });
    const { output } = await answered({ input: [question], reasoning: { summary: 'auto' } }, stream);
    expect(output[0]).toMatchObject({
      summary: [{ type: 'summary_text' }],
      encrypted_content: expect.stringMatching(/./),
    });
    await answered({ input: [question, ...first.output, question] }, stream);
    const [, , reply] = sent()['messages'] as { reasoning_details?: object[] }[];
    const given = await platform.chat(account.apiKey, { model, messages: [question] });
    const { choices } = (await given.json()) as {
      choices: { message: { reasoning_details: object[] } }[];
    };
    expect(reply?.reasoning_details).toEqual(choices[0]?.message.reasoning_details);
    const unsigned = await answered({ input: 'hi [[sim think=6]]' }, stream);
    expect(unsigned.output[0]).toMatchObject({ type: 'reasoning', encrypted_content: null });
  });

  it('is incomplete when its tokens run out', async () => {
    const answer = await answered({ input: 'Tell a story', max_output_tokens: 5 }, stream);
    expect(answer).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: { output_tokens: 5 },
    });
  });

  it('returns log probabilities', async () => {
    const answer = await answered(
      { input, top_logprobs: 2, include: ['message.output_text.logprobs'] },
      stream,
    );
    const [message] = answer.output;
    const [part] = message?.type === 'message' ? message.content : [];
    const logprobs = part?.type === 'output_text' ? part.logprobs : undefined;
    expect(logprobs?.map(({ token }) => token).join('')).toBe(answer.output_text);
  });
});

describe('a stream of POST /responses', () => {
  it('has the events of a text in their order, numbered from 0', async () => {
    const events = await eventsOf({});
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type);
    expect([...new Set(types)]).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const text = events.map(({ delta }) => (typeof delta === 'string' ? delta : '')).join('');
    expect(text).toBe('héllo wörld 🙂');
    expect(events.find(({ type }) => type === 'response.output_text.done')?.['text']).toBe(text);
  });

  it('has the events of a call in their order', async () => {
    const events = await eventsOf({ input: 'What is the weather in Oslo?', tools: [weather] });
    const types = [...new Set(events.map(({ type }) => type))];
    expect(types.slice(2)).toEqual([
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const given = events.find(({ type }) => type === 'response.function_call_arguments.done')?.['arguments'];
    expect(events.map(({ delta }) => (typeof delta === 'string' ? delta : '')).join('')).toBe(given);
  });

  it('fails as a response if an error comes after its beginning, and charges what was delivered', async () => {
    const events = await eventsOf({ input: 'go [[sim fault=error-mid-stream after=3 itl-ms=5]]' });
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'INFERENCE_FAILED' },
        output: [{ type: 'message', status: 'incomplete' }],
        usage: { output_tokens: expect.any(Number) },
        cost: { usd: expect.any(Number) },
      },
    });
  });

  it('keeps reasoning, text and calls apart', async () => {
    const request = { model, input: 'What is the weather in Oslo? [[sim think=5]]', tools: [weather] };
    const { output } = await account.openai.responses.stream(request).finalResponse();
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'function_call']);
  });
});

import OpenAI from 'openai';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ABLE_MODEL, Platform, type TestAccount } from '../platform.js';

const model = 'able';
const input = 'Reply exactly: héllo wörld 🙂';

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  platform = await Platform.start({ models: [ABLE_MODEL], housePrompts: ['Be kind.'] });
  account = await platform.account('100.00');
});

afterEach(() => platform.simulator.setFaults({}));

afterAll(() => platform.stop());

function post(request: object | string): Promise<Response> {
  return fetch(`${platform.apiUrl}/responses`, {
    method: 'POST',
    body: typeof request === 'string' ? request : JSON.stringify({ model, input, ...request }),
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
  });
}

/** The body of the last request that the backend has got. */
const sent = (): Record<string, unknown> =>
  JSON.parse(platform.simulator.requests().at(-1)?.body ?? '{}') as Record<string, unknown>;

describe('a request to POST /responses', () => {
  it('reaches the backend with its settings, its bytes and its unknown fields', async () => {
    const body = `{"model":"${model}","instructions":"Be brief.","input":"hi","max_output_tokens":9,"reasoning":{"effort":"low",
      "summary":"auto"},"text":{"verbosity":"low"},"temperature":0.50,"seed":9007199254740993,"guided_regex":"a+","tools":[{"type":
      "function","name":"f","parameters":{"maximum":12345678901234567890}}],"store":false,"service_tier":"auto","truncation":"disabled"}`;
    const response = await fetch(`${platform.apiUrl}/responses`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    });
    expect(response.status).toBe(200);
    expect(sent()).toMatchObject({
      messages: [
        { role: 'system', content: 'Be kind.\n\nBe brief.' },
        { role: 'user', content: 'hi' },
      ],
      max_completion_tokens: 9,
      reasoning_effort: 'low',
      verbosity: 'low',
      guided_regex: 'a+',
    });
    const raw = platform.simulator.requests().at(-1)?.body ?? '';
    for (const text of ['0.50', '9007199254740993', '12345678901234567890']) expect(raw).toContain(text);
    for (const name of ['input', 'store', 'service_tier', 'truncation', 'instructions'])
      expect(Object.keys(sent())).not.toContain(name);
  });

  it('takes options of the service from its parameters and from the model suffix', async () => {
    const response = await post({
      model: `${model}:strip_thinking_response=true`,
      svc_parameters: { include_venice_system_prompt: false },
    });
    expect(await response.json()).toMatchObject({
      svc_parameters: { strip_thinking_response: true, include_venice_system_prompt: false },
    });
    expect(response.headers.get('x-svc-model-id')).toBe(model);
  });

  it('has the tools in order, and the images of a tool in the next message', async () => {
    const create = { width: 64, height: 64, channels: 3, background: 'red' } as const;
    const png = (await sharp({ create }).png().toBuffer()).toString('base64');
    const response = await post({
      input: [
        { role: 'user', content: 'Look' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }],
        },
      ],
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }],
    });
    expect(response.status).toBe(200);
    expect(sent()['messages']).toMatchObject([
      { role: 'system' },
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', content: expect.any(String) },
      { role: 'user', content: [{ type: 'image_url' }] },
    ]);
  });

  it('passes audio on to a model with audio input, and is refused for other models', async () => {
    const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
    const content = [{ type: 'input_text', text: 'What is this?' }, audio];
    expect((await post({ input: [{ role: 'user', content }] })).status).toBe(200);
    expect(sent()['messages']).toMatchObject([
      { role: 'system' },
      { role: 'user', content: [{ type: 'text', text: 'What is this?' }, audio] },
    ]);
    const refused = await post({ model: 'test-model', input: [{ role: 'user', content }] });
    expect(refused.status).toBe(400);
    const message: unknown = expect.stringContaining('test-model does not accept input_audio');
    expect(await refused.json()).toMatchObject({ error: { param: 'input.0.content', message } });
  });

  it('turns reasoning off with `reasoning.enabled`', async () => {
    expect((await post({ reasoning: { enabled: false } })).status).toBe(200);
    expect(sent()['reasoning_effort']).toBe('none');
  });

  const deep = JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`) as unknown;

  it.each([
    ['a stored response', { previous_response_id: 'resp_1' }, 'previous_response_id'],
    ['a conversation', { conversation: 'conv_1' }, 'conversation'],
    ['work in the background', { background: true }, 'background'],
    ['truncation', { truncation: 'auto' }, 'truncation'],
    ['a stored prompt', { prompt: { id: 'pmpt_1' } }, 'prompt'],
    [
      'an unknown type of item',
      { input: [{ role: 'user', content: 'a' }, { type: 'no_such' }] },
      'input.1.type',
    ],
    ['a reference to a stored item', { input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input.0.type'],
    ['an unknown role', { input: [{ role: 'robot', content: 'a' }] }, 'input.0.role'],
    [
      'an unknown type of part',
      { input: [{ role: 'user', content: [{ type: 'input_smell' }] }] },
      'input.0.content.0.type',
    ],
    [
      'an image of the assistant',
      { input: [{ role: 'assistant', content: [{ type: 'input_image', image_url: 'a' }] }] },
      'input.0.content.0.type',
    ],
    ['a deep item', { input: [{ role: 'user', content: deep }] }, 'input.0.content.0'],
    [
      'a stored file',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_data: 'a', file_id: 'f' }] }] },
      'input.0.content.0.file_id',
    ],
    ['another unknown tool', { tools: [{ type: 'code_interpreter' }] }, 'tools.0.type'],
    ['a field of chat completions', { messages: [] }, 'messages'],
    ['another spelling of a field', { Input: 'hi' }, 'Input'],
    ['a limit of zero tokens', { max_output_tokens: 0 }, 'max_output_tokens'],
    [
      'reasoning that another service has signed',
      { input: [{ type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }] },
      'input.0.encrypted_content',
    ],
    [
      'a signature of more than 64 KB',
      { input: [{ type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(65_537) }] },
      'input.0.encrypted_content',
    ],
    ...[5_000, 600].map((levels): [string, object, string] => [
      `a signature of ${levels} levels`,
      {
        input: [
          {
            type: 'reasoning',
            summary: [],
            encrypted_content: Buffer.from(
              `{"reasoning_details":${'['.repeat(levels)}${']'.repeat(levels)}}`,
            ).toString('base64'),
          },
        ],
      },
      'input.0.encrypted_content',
    ]),
    [
      'a search where none is offered',
      { tools: [{ type: 'web_search' }] },
      'svc_parameters.enable_web_search',
    ],
  ])('refuses %s, and names the field', async (_what, fields, param) => {
    const response = await post(fields);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param },
    });
  });

  it('says that an input of items without a message is empty', async () => {
    const response = await post({ input: [{ type: 'reasoning', summary: [] }] });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param: 'input', message: 'input: Every message is empty' },
    });
  });

  it("names the item whose content the model doesn't accept", async () => {
    const image = { type: 'input_image', image_url: 'https://example.com/a.png' };
    const response = await post({
      model: 'test-model',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'a' },
        { role: 'user', content: Array.from({ length: 11 }, () => image) },
      ],
    });
    expect(await response.json()).toMatchObject({ error: { param: 'input.1.content' } });
  });

  it('has the last of duplicate members, for its check and for the backend', async () => {
    const body = `{"model":"no-such","input":"a","input":[{"role":"user","content":"b","content":"c"}],"model":"${model}"}`;
    const response = await fetch(`${platform.apiUrl}/responses`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    });
    expect(response.status).toBe(200);
    expect(sent()['messages']).toMatchObject([{ role: 'system' }, { role: 'user', content: 'c' }]);
  });

  it('fails with the errors that the client knows', async () => {
    const { responses } = account.openai;
    await expect(responses.create({ model: 'no-such', input })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    platform.simulator.setFaults({ faults: ['500'] }, 1);
    await expect(responses.create({ model, input })).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    const poor = await platform.account('0');
    await expect(poor.openai.responses.create({ model, input })).rejects.toMatchObject({ status: 402 });
  });
});

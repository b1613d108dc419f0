import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { ScriptedBackend, scriptMessage } from '../scripted-backend.js';

let platform: Platform;
let scripted: ScriptedBackend;
let account: TestAccount;

beforeAll(async () => {
  scripted = await ScriptedBackend.start();
  platform = await Platform.start({
    models: [{ id: 'scripted', backends: [{ url: scripted.url, model: 'scripted' }] }],
  });
  account = await platform.account('10.00');
});

afterAll(async () => {
  await platform.stop();
  await scripted.close();
});

const REASONING = 'First the tide, then the wind.';
const PIECES = REASONING.split(/(?<=,)/);

/** How servers send reasoning. */
const NAMES: readonly (readonly [string, (text: string) => object])[] = [
  ['reasoning', (reasoning) => ({ reasoning })],
  ['reasoning_text', (reasoning_text) => ({ reasoning_text })],
  ['thinking', (thinking) => ({ thinking })],
  ['reasoning_details', (text) => ({ reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] })],
];

const script = (place: (text: string) => object, stream: boolean) => {
  const finished = { finish_reason: 'stop' };
  if (!stream)
    return scriptMessage({
      answer: { choices: [{ index: 0, message: { content: 'Calm.', ...place(REASONING) }, ...finished }] },
    });
  const deltas = [...PIECES.map(place), { content: 'Calm.' }];
  return scriptMessage({
    chunks: [
      ...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })),
      { choices: [{ index: 0, delta: {}, ...finished }] },
    ],
  });
};

async function post(path: string, body: object): Promise<string> {
  const response = await fetch(`${platform.apiUrl}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'scripted', ...body }),
  });
  expect(response.status).toBe(200);
  return response.text();
}

/** The value of a member in each event that has it, in the order of the events. */
const inEvents = (text: string, pattern: RegExp): string =>
  Array.from(text.matchAll(pattern), ([, json = '']) => JSON.parse(`"${json}"`) as string).join('');

describe.each(NAMES)('reasoning that a server sends as %s', (_, place) => {
  it('is reasoning_content of a chat completion', async () => {
    const whole = await post('chat/completions', { messages: [script(place, false)] });
    expect(JSON.parse(whole)).toMatchObject({
      choices: [{ message: { reasoning_content: REASONING, content: 'Calm.' } }],
    });
    const streamed = await post('chat/completions', { messages: [script(place, true)], stream: true });
    expect(inEvents(streamed, /"reasoning_content":"([^"]*)"/g)).toBe(REASONING);
  });

  it('is a thinking block of a message', async () => {
    const fields = { max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_024 } };
    const whole = await post('messages', { ...fields, messages: [script(place, false)] });
    expect(JSON.parse(whole)).toMatchObject({
      content: [
        { type: 'thinking', thinking: REASONING },
        { type: 'text', text: 'Calm.' },
      ],
    });
    const streamed = await post('messages', { ...fields, messages: [script(place, true)], stream: true });
    expect(inEvents(streamed, /"thinking_delta","thinking":"([^"]*)"/g)).toBe(REASONING);
  });

  it('is a reasoning item of a response', async () => {
    const whole = await post('responses', { input: [script(place, false)] });
    const content = [{ type: 'reasoning_text', text: REASONING }];
    expect(JSON.parse(whole)).toMatchObject({
      output: [{ type: 'reasoning', content }, { type: 'message' }],
    });
    const streamed = await post('responses', { input: [script(place, true)], stream: true });
    expect(inEvents(streamed, /"response.reasoning_text.delta".*?"delta":"([^"]*)"/g)).toBe(REASONING);
  });

  it('is stripped if the client asks for that', async () => {
    const parameters = { svc_parameters: { strip_thinking_response: true } };
    for (const stream of [false, true]) {
      const text = await post('chat/completions', {
        messages: [script(place, stream)],
        stream,
        ...parameters,
      });
      expect(text).toContain('Calm.');
      for (const piece of PIECES) expect(text).not.toContain(piece);
    }
  });
});

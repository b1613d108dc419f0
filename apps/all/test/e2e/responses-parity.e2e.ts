import fc from 'fast-check';
import type { ChatCompletion } from 'openai/resources/chat/completions';
import type { Response as Answer } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ABLE_MODEL, Platform, type TestAccount } from '../platform.js';

const model = 'able';

interface Priced {
  readonly cost: { readonly usd: number; readonly diem: number };
}

/** What a client sees of an answer, whatever the endpoint. */
interface Seen {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly isWhole: boolean;
  readonly tokens: readonly (number | undefined)[];
  readonly cost: Priced['cost'];
}

/** A conversation, as messages and as items. */
interface Conversation {
  readonly turns: readonly Turn[];
  readonly last: string;
  readonly instructions: string | undefined;
  readonly settings: { readonly temperature?: number; readonly seed: number };
  readonly most: number | undefined;
  readonly hasTool: boolean;
  readonly isJson: boolean;
}

type Turn = { readonly user: string } & ({ readonly said: string } | { readonly output: string });

const tool = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: false,
};
const schema = {
  name: 'trip',
  schema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city', 'days'],
    additionalProperties: false,
  },
};

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
const conversations = fc.record<Conversation>({
  turns: fc.array(fc.oneof(fc.record({ user: text, said: text }), fc.record({ user: text, output: text })), {
    maxLength: 3,
  }),
  last: fc.oneof(text, fc.constant('What is the weather in Oslo?'), fc.constant('Think [[sim think=7]]')),
  instructions: fc.option(text, { nil: undefined }),
  settings: fc.record({ seed: fc.nat(), temperature: fc.constantFrom(0, 0.5) }),
  most: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
  hasTool: fc.boolean(),
  isJson: fc.boolean(),
});

let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  // Without a price for cached tokens, a conversation costs the same when it is repeated.
  const pricing = { input: 0.15, output: 0.6 };
  platform = await Platform.start({ models: [{ ...ABLE_MODEL, pricing }], housePrompts: ['Be kind.'] });
  account = await platform.account('1000.00');
});

afterAll(() => platform.stop());

const ARGUMENTS = '{"city":"Oslo"}';

async function chat(asked: Conversation): Promise<Seen> {
  const messages = asked.turns.flatMap((turn, index): object[] => {
    const user = { role: 'user', content: turn.user };
    if ('said' in turn) return [user, { role: 'assistant', content: turn.said }];
    const called = { name: 'get_weather', arguments: ARGUMENTS };
    const call = { id: `call_${index}`, type: 'function', function: called };
    return [
      user,
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: call.id, content: turn.output },
    ];
  });
  const before = asked.instructions === undefined ? [] : [{ role: 'system', content: asked.instructions }];
  const response = await platform.chat(account.apiKey, {
    model,
    messages: [...before, ...messages, { role: 'user', content: asked.last }],
    ...asked.settings,
    ...(asked.most !== undefined && { max_completion_tokens: asked.most }),
    ...(asked.hasTool && { tools: [{ type: 'function', function: tool }] }),
    ...(asked.isJson && { response_format: { type: 'json_schema', json_schema: schema } }),
  });
  const answer = (await response.json()) as ChatCompletion & Priced;
  const [choice] = answer.choices;
  const { message } = choice ?? {};
  const { usage } = answer;
  return {
    text: message?.content ?? '',
    reasoning: (message as { reasoning_content?: string | null }).reasoning_content ?? '',
    calls: (message?.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [{ name: call.function.name, arguments: call.function.arguments }] : [],
    ),
    isWhole: choice?.finish_reason !== 'length',
    tokens: [
      usage?.prompt_tokens,
      usage?.completion_tokens,
      usage?.completion_tokens_details?.reasoning_tokens,
    ],
    cost: answer.cost,
  };
}

async function respond(asked: Conversation, stream: boolean): Promise<Seen> {
  const items = asked.turns.flatMap((turn, index): object[] => {
    const user = { role: 'user', content: turn.user };
    if ('said' in turn) {
      const content = [{ type: 'output_text', text: turn.said, annotations: [] }];
      return [user, { type: 'message', role: 'assistant', id: 'msg_1', status: 'completed', content }];
    }
    const call = { type: 'function_call', call_id: `call_${index}`, name: 'get_weather' };
    return [
      user,
      { ...call, arguments: ARGUMENTS },
      { type: 'function_call_output', call_id: call.call_id, output: turn.output },
    ];
  });
  const body = {
    model,
    input: [...items, { role: 'user', content: asked.last }] as never,
    ...asked.settings,
    ...(asked.instructions !== undefined && { instructions: asked.instructions }),
    ...(asked.most !== undefined && { max_output_tokens: asked.most }),
    ...(asked.hasTool && { tools: [{ type: 'function' as const, ...tool }] }),
    ...(asked.isJson && { text: { format: { type: 'json_schema' as const, ...schema } } }),
  };
  const answer = (await (stream
    ? account.openai.responses.stream(body).finalResponse()
    : account.openai.responses.create(body))) as Answer & Priced;
  const { usage, output } = answer;
  return {
    text: answer.output_text,
    reasoning: output
      .flatMap((item) => (item.type === 'reasoning' ? (item.content ?? []) : []))
      .map((part) => part.text)
      .join(''),
    calls: output.flatMap((item) =>
      item.type === 'function_call' ? [{ name: item.name, arguments: item.arguments }] : [],
    ),
    isWhole: answer.status !== 'incomplete',
    tokens: [usage?.input_tokens, usage?.output_tokens, usage?.output_tokens_details.reasoning_tokens],
    cost: answer.cost,
  };
}

describe('a conversation', () => {
  it('says and costs the same through /responses, whole and streamed, as through /chat/completions', async () => {
    await fc.assert(
      fc.asyncProperty(conversations, async (asked) => {
        const expected = await chat(asked);
        expect(await respond(asked, false)).toEqual(expected);
        expect(await respond(asked, true)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});

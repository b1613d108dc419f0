import { type Simulator, startSimulator } from '@svc/simulator';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import type { ChatCompletion } from 'openai/resources/chat/completions';
import type {
  Response as Answer,
  ResponseCreateParamsNonStreaming,
} from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ABLE_MODEL, Platform, type TestAccount } from '../platform.js';
import { responseRequest } from '../response-requests.js';

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

let backend: Simulator;
let platform: Platform;
let chatting: TestAccount;
let responding: TestAccount;

beforeAll(async () => {
  // With a cache, the second of two equal requests would cost less.
  backend = await startSimulator({ port: 0, prefixCache: false });
  const backends = [{ url: `${backend.url}/v1`, model: 'sim', maxInFlight: 1_000 }];
  platform = await Platform.start({ models: [{ ...ABLE_MODEL, backends }], housePrompts: ['Be kind.'] });
  chatting = await platform.account('1000.00');
  responding = await platform.account('1000.00');
});

afterAll(async () => {
  await platform.stop();
  await backend.close();
});

async function chat(request: object): Promise<Seen> {
  const response = await platform.chat(chatting.apiKey, { model, ...request });
  expect(response.status).toBe(200);
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

async function respond(request: object, stream: boolean): Promise<Seen> {
  const { responses } = responding.openai;
  const body = { model, ...request } as ResponseCreateParamsNonStreaming;
  const answer = (await (stream
    ? responses.stream({ ...body, stream: true }).finalResponse()
    : responses.create(body))) as Answer & Priced;
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

async function spentNano({ id }: TestAccount): Promise<number> {
  const { usd } = await platform.balances(id);
  return Math.round((1_000 - Number(usd)) * 1e9);
}

describe('a conversation', () => {
  it('says and costs the same through /responses, whole and streamed, as through /chat/completions', async () => {
    await fc.assert(
      fc.asyncProperty(responseRequest, async (request) => {
        const expected = await chat(request.chat);
        expect(await respond(request.response, false)).toEqual(expected);
        expect(await respond(request.response, true)).toEqual(expected);
      }),
      { numRuns: repeats('RESPONSES') },
    );
    // Each request of the one account has two of the other, to the nano-dollar.
    expect(await spentNano(chatting)).toBeGreaterThan(0);
    await expect.poll(() => spentNano(responding)).toBe(2 * (await spentNano(chatting)));
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});

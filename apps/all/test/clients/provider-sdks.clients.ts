import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { openProviderSdks } from './environments.js';
import { ProviderFakes } from './provider-fakes.js';

const TOOL = 'get_goal';
const INPUT = { place: 'Oslo 🌦', deep: [1, { a: null }] };

/** Providers whose client is OpenAI's, and the path of their API. */
const OPENAI = new Map([
  ['openai', '/v1'],
  ['azure', '/openai/v1'],
]);

const program = await openProviderSdks();

/** What a client has read. */
interface Read {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  /** The tokens of the prompt and of the output. */
  readonly usage: readonly unknown[];
}

let fakes: ProviderFakes;
let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  fakes = await ProviderFakes.start(new Map([[TOOL, INPUT]]));
  platform = await Platform.start({ models: fakes.models(), env: fakes.secrets() });
  account = await platform.account('10.00');
});
afterAll(async () => {
  await platform?.stop();
  await fakes?.close();
});

async function readBySdk(kind: string, tools: readonly string[]): Promise<Read> {
  const path = OPENAI.get(kind);
  if (path !== undefined) {
    const client = new OpenAI({ apiKey: 'key', baseURL: `${fakes.hostOf(kind)}${path}`, maxRetries: 0 });
    return readChat(client, 'm', tools);
  }
  const args = [program, kind, fakes.hostOf(kind), ...tools];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  return JSON.parse(stdout) as Read;
}

const readByPlatform = (kind: string, tools: readonly string[]): Promise<Read> =>
  readChat(account.openai, `by-${kind}`, tools);

async function readChat(client: OpenAI, model: string, tools: readonly string[]): Promise<Read> {
  const stream = client.chat.completions.stream({
    model,
    messages: [{ role: 'user', content: 'Hi' }],
    stream_options: { include_usage: true },
    ...(tools.length > 0 && {
      tools: tools.map((name) => ({ type: 'function' as const, function: { name, parameters: {} } })),
    }),
  });
  const { choices, usage } = await stream.finalChatCompletion();
  const calls = (choices[0]?.message.tool_calls ?? []).flatMap((call) =>
    call.type === 'function'
      ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) as unknown }]
      : [],
  );
  return {
    text: choices[0]?.message.content ?? '',
    calls,
    usage: [usage?.prompt_tokens, usage?.completion_tokens],
  };
}

describe.each(['gemini', 'vertex', 'bedrock', ...OPENAI.keys()])('the client of the provider %s', (kind) => {
  it.each([
    ['a text', []],
    ['a call', [TOOL]],
  ])("reads of the provider's bytes what clients of the platform read: %s", async (_what, tools) => {
    const read = await readBySdk(kind, tools);
    expect(read.text !== '' || read.calls.length > 0).toBe(true);
    expect(await readByPlatform(kind, tools)).toEqual(read);
  });
});

import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { ChatCompletion } from '@svc/api/chat';
import { PROBLEMS } from '@svc/contracts/problems';
import { TestServer, repeats } from '@svc/testing';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiErrorBody } from '../response-bodies.js';
import { type HostileRequest, HostileRequests } from '../hostile-requests.js';
import { INSPECTED, TELLS_MEMORY, residentBytes } from '../memory.js';
import { ABLE_MODEL, Platform, type TestAccount } from '../platform.js';
import { ServiceProbe } from '../probe.js';
import { Random } from '../random.js';

const REQUESTS = repeats('FUZZ');
const AT_ONCE = 50;
const WARM_UP = Math.min(1_000, REQUESTS / 2);

/** Memory that requests may legitimately keep: counts, remembered ids, pages of code. */
const HELD_GROWTH_LIMIT_BYTES = 16_000_000;

/** Resident memory varies with what V8 has not returned yet; memory outside of V8 is visible only here. */
const RESIDENT_GROWTH_LIMIT_BYTES = 200_000_000;

const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);

const model = ABLE_MODEL.id;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Requests that succeed, and that have every field between them. */
async function decentRequests(): Promise<Record<string, unknown>[]> {
  const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const cache_control = { type: 'ephemeral', ttl: '1h' };
  const messages = [{ role: 'user', content: 'hi', name: 'me' }];
  const sampling = {
    temperature: 1,
    top_p: 0.5,
    top_k: 5,
    min_p: 0.1,
    min_temp: 0.1,
    max_temp: 1.5,
    seed: 7,
  };
  const penalties = { frequency_penalty: 0.5, presence_penalty: -0.5, repetition_penalty: 1.1 };
  const bounds = { n: 2, max_completion_tokens: 9, max_tokens: 9, stop: ['a', 'b'], stop_token_ids: [1, 2] };
  const logs = {
    logprobs: true,
    top_logprobs: 2,
    user: 'u',
    store: false,
    include: ['x'],
    metadata: { a: 'b' },
  };
  const streaming = { stream: true, stream_options: { include_usage: true } };
  const caching = { prompt_cache_key: 'k', prompt_cache_retention: '24h', fallbacks: [{ model }] };
  const effort = { reasoning: { effort: 'low', summary: 'auto', enabled: true }, reasoning_effort: 'low' };
  const others = { verbosity: 'low', text: { verbosity: 'low' }, x_unknown: { a: [1, null] } };
  const svc_parameters = {
    strip_thinking_response: true,
    disable_thinking: true,
    enable_e2ee: false,
    enable_web_search: 'off',
    enable_web_scraping: false,
    enable_web_citations: false,
    enable_x_search: false,
    include_search_results_in_stream: false,
    return_search_results_as_documents: false,
    include_venice_system_prompt: true,
    include_svc_system_prompt: true,
  };
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const tools = [{ type: 'function', function: { name: 'f', description: 'd', parameters, strict: true } }];
  const conversation = [
    { role: 'system', content: 'be brief', name: 's' },
    { role: 'developer', content: [{ type: 'text', text: 'be kind', cache_control }] },
    { role: 'user', content: [{ type: 'text', text: 'f', cache_control }] },
    {
      role: 'assistant',
      content: null,
      name: 'a',
      reasoning_content: 'hm',
      reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0 }],
      thought_signature: 's',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"city":"Oslo"}' } }],
    },
    { role: 'tool', content: 'sunny', tool_call_id: 'c', name: 'f' },
    { role: 'assistant', content: [{ type: 'text', text: 'sunny' }] },
    { role: 'user', content: 'thanks' },
  ];
  const media = [
    {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${image.toString('base64')}` },
      cache_control,
    },
    { type: 'input_audio', input_audio: { data: base64('RIFF'), format: 'wav' }, cache_control },
    { type: 'video_url', video_url: { url: `data:video/mp4;base64,${base64('\0\0\0\u0018ftypmp42')}` } },
    { type: 'file', file: { file_data: `data:text/csv;base64,${base64('a,b\n1,2')}`, filename: 'a.csv' } },
  ];
  return [
    { model, messages, ...sampling, ...penalties, ...bounds, ...logs },
    { model, messages, ...streaming, ...caching, ...effort, ...others },
    { model, messages, svc_parameters },
    {
      model,
      messages,
      tools,
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
    },
    {
      model,
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: parameters } },
    },
    { model, messages: conversation, tools, tool_choice: 'auto' },
    { model, messages: [{ role: 'user', content: media }] },
  ];
}

/** A backend that responds to any request, and records requests that it should not have received. */
const listener: RequestListener = (request, response) => {
  void text(request).then((body) => {
    const isStream = streamOf(body);
    if (isStream === undefined) unreadable.push(body);
    const answer = {
      choices: [{ message: { content: 'hi' }, delta: { content: 'hi' }, finish_reason: 'stop' }],
    };
    response.end(isStream ? `data: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n` : JSON.stringify(answer));
  });
};
const unreadable: string[] = [];

/** Whether a request wants a stream; `undefined` if it is not a valid request. */
function streamOf(body: string): boolean | undefined {
  try {
    const { stream, messages } = JSON.parse(body) as { stream: unknown; messages: unknown };
    return typeof stream === 'boolean' && Array.isArray(messages) ? stream : undefined;
  } catch {
    return undefined;
  }
}

let backend: TestServer;
let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  backend = await TestServer.start(listener);
  const backends = [{ url: `${backend.url}/v1`, model, maxInFlight: 1_000 }];
  platform = await Platform.start({
    models: [{ ...ABLE_MODEL, backends }],
    env: { ...INSPECTED, SVC_LOG_LEVEL: 'error' },
  });
  account = await platform.account('100000.00');
});

afterAll(async () => {
  await platform.stop();
  await backend.close();
});

const KINDS = new Set<string>(Object.values(PROBLEMS).map(({ kind }) => kind));

/** What is wrong with the response to a malformed request; nothing for most. */
async function faultOf(response: Response): Promise<string | undefined> {
  const body = await response.text();
  if (response.status === 200) {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (isStream) return body.endsWith('data: [DONE]\n\n') && !body.includes('"error"') ? undefined : body;
    return ChatCompletion.safeParse(JSON.parse(body)).success ? undefined : body;
  }
  if (response.status < 400 || response.status >= 500) return body;
  const { error, code } = JSON.parse(body) as ApiErrorBody;
  const isWellFormed =
    response.headers.get('content-type')?.startsWith('application/json') === true &&
    response.headers.has('x-request-id') &&
    error.message !== '' &&
    KINDS.has(error.type) &&
    (error.param === null || typeof error.param === 'string') &&
    error.code === code &&
    code in PROBLEMS;
  return isWellFormed ? undefined : body;
}

const readable = ({ what, body }: HostileRequest): string =>
  `${what}: ${typeof body === 'string' ? body.slice(0, 500) : Buffer.from(body).toString('latin1')}`;

interface Outcome {
  readonly statuses: Map<number, number>;
  readonly faults: string[];
}

/** Sends this number of requests, some concurrently. */
async function send(requests: HostileRequests, count: number, outcome: Outcome): Promise<void> {
  let left = count;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const request = requests.next();
      const response = await platform.chat(account.apiKey, request.body, { headers: request.headers });
      outcome.statuses.set(response.status, (outcome.statuses.get(response.status) ?? 0) + 1);
      const fault = await faultOf(response);
      if (fault !== undefined)
        outcome.faults.push(`${response.status} ${readable(request)}\n${fault.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

describe('200', () => {
  it('accepts all the requests that the malformed ones are derived from', async () => {
    for (const body of await decentRequests()) {
      const response = await platform.chat(account.apiKey, body);
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    }
  });
});

describe('400', () => {
  it(
    `refuses ${REQUESTS} malformed requests, and leaks neither memory nor money (seed ${SEED})`,
    { timeout: 180_000 },
    async () => {
      const requests = new HostileRequests(new Random(SEED), await decentRequests());
      const outcome: Outcome = { statuses: new Map(), faults: [] };
      const probe = await ServiceProbe.connect(platform.service.output);
      await send(requests, WARM_UP, outcome);
      const heldBefore = await probe.heldBytes();
      const residentBefore = TELLS_MEMORY ? residentBytes(platform.service.pid) : 0;
      await send(requests, REQUESTS - WARM_UP, outcome);
      const held = await probe.heldBytes();
      const resident = TELLS_MEMORY ? residentBytes(platform.service.pid) : 0;
      probe.close();
      const { statuses, faults } = outcome;
      process.stderr.write(
        `fuzz: seed ${SEED}, statuses ${JSON.stringify([...statuses])}, heap ${heldBefore} then ${held} bytes, in memory ${residentBefore} then ${resident}\n`,
      );
      expect(faults.slice(0, 10)).toEqual([]);
      expect(unreadable).toEqual([]);
      expect(platform.service.exitCode).toBeNull();
      expect(statuses.get(400)).toBeGreaterThan(REQUESTS / 2);
      expect(statuses.get(200)).toBeGreaterThan(0);
      expect(held - heldBefore).toBeLessThan(HELD_GROWTH_LIMIT_BYTES);
      expect(resident - residentBefore).toBeLessThan(RESIDENT_GROWTH_LIMIT_BYTES);
      await expectNoHolds();
    },
  );

  const faulty = (size: number, item: string): string => `${item},`.repeat(size / (item.length + 1)) + item;
  it.each([
    ['messages', (size: number) => `{"model":"able","messages":[${faulty(size, '0')}]}`],
    [
      'parts',
      (size: number) => `{"model":"able","messages":[{"role":"user","content":[${faulty(size, '0')}]}]}`,
    ],
    [
      'calls',
      (size: number) =>
        `{"model":"able","messages":[{"role":"assistant","tool_calls":[${faulty(size, '0')}]}]}`,
    ],
    [
      'messages with faulty parts',
      (size: number) => `{"model":"able","messages":[${faulty(size, '{"content":[0,0]}')}]}`,
    ],
    ['tools', (size: number) => `{"model":"able","messages":[],"tools":[${faulty(size, '{}')}]}`],
    ['strings', (size: number) => `{"model":"able","messages":[],"include":[${faulty(size, '0')}]}`],
  ])('refuses 30 MB of malformed %s, naming a few of the faults', async (_, bodyOf) => {
    const response = await platform.chat(account.apiKey, bodyOf(30_000_000));
    const text = await response.text();
    expect({ status: response.status, code: (JSON.parse(text) as ApiErrorBody).code }).toEqual({
      status: 400,
      code: 'INVALID_REQUEST',
    });
    expect(text.length).toBeLessThan(100_000);
    expect(platform.service.exitCode).toBeNull();
  });
});

/** The account can spend its whole balance, and the audit finds nothing. */
async function expectNoHolds(): Promise<void> {
  const { usd } = await platform.balances(account.id);
  const response = await platform.chat(account.apiKey, {
    model,
    messages: [{ role: 'user', content: 'hi' }],
  });
  expect(response.headers.get('x-svc-balance-usd')).toBe(usd);
  expect(await platform.audit()).toMatchObject({ body: { ok: true } });
}

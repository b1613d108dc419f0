import { hash } from 'node:crypto';
import { type Simulator, startSimulator } from '@svc/simulator';
import { repeats } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chunk, chunksOf, errorOf, eventually } from '../response-bodies.js';
import { ENCRYPTED_MODEL, enclaveAt } from '../enclaves.js';
import { EncryptionSession } from '../encryption-session.js';
import { type EncryptedStream, deltasOf, encryptedStream } from '../encrypted-stream.js';
import { Platform, type TestAccount } from '../platform.js';

const PRICING = { input: 1, output: 20 };
/** Nano-dollars per token. */
const INPUT_NANO = 1_000;
const OUTPUT_NANO = 20_000;

/** The option that makes a plain request the twin of an encrypted one. */
const NO_HOUSE_PROMPT = { include_venice_system_prompt: false };

/** A multiple of 20. */
const CHOICES = repeats('ENCLAVE_CHOICES');

let enclave: Simulator;
let other: Simulator;
let restarted: Simulator;
let platform: Platform;
let account: TestAccount;
let session: EncryptionSession;

beforeAll(async () => {
  enclave = await startSimulator();
  other = await startSimulator();
  restarted = await startSimulator();
  const model = (id: string, backends: object[], more: object = {}): object => ({
    ...ENCRYPTED_MODEL,
    id,
    pricing: PRICING,
    backends,
    ...more,
  });
  platform = await Platform.start({
    models: [
      model('encrypted', [enclaveAt(enclave.url)]),
      model('silent', [enclaveAt(enclave.url, { model: 'x;fault=missing-usage' })]),
      model('restarted', [enclaveAt(restarted.url)]),
      model('reasoning', [enclaveAt(enclave.url, { model: 'sim-reason' })], {
        capabilities: { ...ENCRYPTED_MODEL.capabilities, supportsReasoning: true },
        reasoning: { off: { suffix: '/no_think' } },
      }),
      model('two', [enclaveAt(enclave.url), enclaveAt(other.url)]),
      { id: 'able', capabilities: { supportsFunctionCalling: true } },
    ],
    housePrompts: ['Answer in plain text.'],
  });
  account = await platform.account('100.00');
  session = await EncryptionSession.with(enclave);
});

afterAll(async () => {
  await platform.stop();
  await other.close();
  await restarted.close();
  await enclave.close();
});

const ask = (body: object, { apiKey } = account, headers = session.headers): Promise<EncryptedStream> =>
  encryptedStream(platform, body, { session, apiKey, headers });

const refusalOf = async (body: object, headers: Record<string, string> = session.headers) => {
  const response = await platform.chat(account.apiKey, body, { headers });
  return { status: response.status, ...(await errorOf(response)) };
};

const echoOf = ({ chunks }: EncryptedStream): unknown =>
  (chunks.at(-1) as unknown as { svc_parameters: unknown }).svc_parameters;

const nanoOf = async ({ id }: TestAccount): Promise<number> =>
  Math.round(Number((await platform.balances(id)).usd) * 1e9);

describe('an encrypted chat', () => {
  it('is decrypted by the enclave alone, whatever the roles, and its response by the client alone', async () => {
    const messages = [
      { role: 'system', content: session.seal('You are terse.') },
      { role: 'assistant', content: session.seal('Hello.'), reasoning_content: session.seal('Greet.') },
      { role: 'assistant', content: '' },
      { role: 'user', content: session.seal('Say exactly "naïve 🙂 answer"') },
    ];
    const stream = await ask({ model: 'encrypted', stream: true, messages });
    expect(stream.text).toBe('naïve 🙂 answer');
    expect(echoOf(stream)).toMatchObject({ enable_e2ee: true, include_venice_system_prompt: false });
    // The house prompt would be plaintext.
    const { body } = enclave.requests().at(-1) ?? { body: '' };
    expect((JSON.parse(body) as { messages: unknown[] }).messages).toEqual(
      messages.filter(({ content }) => content !== ''),
    );
  });

  it('has reasoning that is encrypted too', async () => {
    const { text, pieces } = await ask(session.chat(['Say exactly "x"'], { model: 'reasoning' }));
    expect(pieces.length).toBeGreaterThan(10);
    expect(text.endsWith('x')).toBe(true);
  });

  it('is signed over its ciphertexts, as a client can recompute', async () => {
    const chat = session.chat(['You are terse.', 'Say exactly "one two three"']);
    const stream = await ask(chat);
    const id = stream.chunks[0]?.id ?? '';
    const query = new URLSearchParams({ model: 'encrypted', request_id: id });
    const response = await fetch(`${platform.apiUrl}/tee/signature?${query.toString()}`);
    const signed = (await response.json()) as { text: string };
    const hashOf = (texts: readonly string[]): string => hash('sha256', texts.join('\n'));
    expect(signed).toMatchObject({ text_covers: 'fields', request_id: id });
    expect(signed.text).toBe(
      `${hashOf(chat.messages.map(({ content }) => content))}:${hashOf(stream.pieces)}`,
    );
    // A piece that was lost or exchanged on the way would show.
    expect(signed.text).not.toContain(hashOf(stream.pieces.slice(1)));
    expect(signed.text).not.toContain(hashOf(stream.pieces.toReversed()));
  });

  it('with an Idempotency-Key is made and charged once, and its response is not stored', async () => {
    const own = await platform.account('1.00');
    const headers = { ...session.headers, 'idempotency-key': 'order-1' };
    const chat = session.chat(['Say exactly "once"']);
    expect((await ask(chat, own, headers)).text).toBe('once');
    const spent = await nanoOf(own);
    const again = async (): Promise<Response> => platform.chat(own.apiKey, chat, { headers });
    let repeated = await again();
    await eventually('the first is over', async () => {
      if (repeated.headers.has('retry-after')) repeated = await again();
      return !repeated.headers.has('retry-after');
    });
    expect([repeated.status, (await errorOf(repeated)).code]).toEqual([409, 'REQUEST_ALREADY_MADE']);
    expect(await nanoOf(own)).toBe(spent);
  });

  it('is claimed by the echo only if texts were encrypted', async () => {
    const plain = {
      model: 'encrypted',
      stream: true,
      messages: [{ role: 'user', content: 'Say exactly "hi"' }],
    };
    const echoed = async (body: object, headers: Record<string, string>): Promise<unknown> => {
      const response = await platform.chat(account.apiKey, body, { headers });
      const { chunks, text } = await chunksOf(response);
      expect(text).toBe('hi');
      return (chunks.at(-1) as unknown as { svc_parameters: { enable_e2ee: boolean } }).svc_parameters
        .enable_e2ee;
    };
    expect(await echoed(plain, {})).toBe(false);
    expect(await echoed({ ...plain, svc_parameters: { enable_e2ee: true } }, {})).toBe(false);
    expect(await echoed({ ...plain, svc_parameters: { enable_e2ee: false } }, session.headers)).toBe(false);
  });

  it('goes to no backend with another key, however many there are', async () => {
    const sessions = [session, await EncryptionSession.with(other)];
    const enclaves = [enclave, other];
    const counts = [0, 0];
    const modes = Array.from({ length: CHOICES }, (_, at) => (at % 4 === 0 ? 0 : 1));
    for (let start = 0; start < modes.length; start += 20) {
      for (const each of enclaves) each.clearLog();
      await Promise.all(
        modes.slice(start, start + 20).map(async (at) => {
          const one = sessions[at] ?? session;
          const chat = one.chat(['Say exactly "hi"'], { model: 'two' });
          const { chunks } = await chunksOf(
            await platform.chat(account.apiKey, chat, { headers: one.headers }),
          );
          expect(
            deltasOf(chunks)
              .map((piece) => one.open(piece))
              .join(''),
          ).toBe('hi');
        }),
      );
      for (const [at, each] of enclaves.entries()) counts[at] = (counts[at] ?? 0) + each.requests().length;
    }
    expect(counts).toEqual([CHOICES / 4, (CHOICES * 3) / 4]);
  });

  it('with the key of an enclave that was restarted is refused as stale, and free', async () => {
    const send = (one: EncryptionSession, { apiKey } = account): Promise<Response> => {
      const chat = one.chat(['Say exactly "hi"'], { model: 'restarted' });
      return platform.chat(apiKey, chat, { headers: one.headers });
    };
    const before = await EncryptionSession.with(restarted);
    expect((await chunksOf(await send(before))).chunks.at(-1)?.error).toBeUndefined();
    await restarted.close();
    restarted = await startSimulator({ port: restarted.port });
    const payer = await platform.account('1.00');
    let refusal = await errorOf(await send(before, payer));
    // Until then the restarted enclave cannot be reached, or was attested less than a second ago.
    await eventually('it is stale', async () => {
      if (refusal.code !== 'E2EE_ATTESTATION_STALE') refusal = await errorOf(await send(before, payer));
      return refusal.code === 'E2EE_ATTESTATION_STALE';
    });
    expect(refusal.error).toMatchObject({
      code: 'e2ee_attestation_stale',
      message: expect.stringContaining('Attest again') as string,
    });
    expect(await nanoOf(payer)).toBe(1e9);
    const after = await EncryptionSession.with(restarted);
    expect((await chunksOf(await send(after))).chunks.at(-1)?.error).toBeUndefined();
  });
});

describe('what cannot be encrypted is refused by name, and sent to no backend', () => {
  const text = (): string => session.seal('hi');
  const user = (content: unknown): object => ({ messages: [{ role: 'user', content }] });
  const withoutHeader = (name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(session.headers).filter(([header]) => !header.includes(name)));
  const tool = { type: 'function', function: { name: 'f' } };

  it.each<[string, () => object, string]>([
    ['a completion in one piece', () => ({ stream: false }), 'stream'],
    ['plaintext', () => user('what is this?'), 'messages.0.content'],
    ['hex of odd length', () => user(text().slice(1)), 'messages.0.content'],
    ['185 digits', () => user(text().slice(0, 185)), 'messages.0.content'],
    ['184 digits', () => user(text().slice(0, 184)), 'messages.0.content'],
    ['another first byte', () => user(`02${text().slice(2)}`), 'messages.0.content'],
    ['parts', () => user([{ type: 'text', text: text() }]), 'messages.0.content'],
    [
      'plaintext of an assistant',
      () => ({
        messages: [
          { role: 'user', content: text() },
          { role: 'assistant', content: 'hi' },
        ],
      }),
      'messages.1.content',
    ],
    [
      'reasoning in plaintext',
      () => ({ messages: [{ role: 'assistant', content: text(), reasoning_content: 'hm' }] }),
      'messages.0.reasoning_content',
    ],
    [
      'calls of tools',
      () => ({
        messages: [
          {
            role: 'assistant',
            content: text(),
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
        ],
      }),
      'messages.0.tool_calls',
    ],
    ['a JSON format', () => ({ response_format: { type: 'json_object' } }), 'response_format'],
    ['token ids', () => ({ return_token_ids: true }), 'return_token_ids'],
    ['log probabilities of the prompt', () => ({ prompt_logprobs: 1 }), 'prompt_logprobs'],
    ['a search', () => ({ svc_parameters: { enable_web_search: 'on' } }), 'svc_parameters.enable_web_search'],
    [
      'pages',
      () => ({ svc_parameters: { enable_web_scraping: true } }),
      'svc_parameters.enable_web_scraping',
    ],
    ['a character', () => ({ svc_parameters: { character_slug: 'a' } }), 'svc_parameters.character_slug'],
    [
      'removal of reasoning',
      () => ({ svc_parameters: { strip_thinking_response: true } }),
      'svc_parameters.strip_thinking_response',
    ],
    [
      'no reasoning',
      () => ({ svc_parameters: { disable_thinking: true } }),
      'svc_parameters.disable_thinking',
    ],
    ['no reasoning, by effort', () => ({ model: 'reasoning', reasoning_effort: 'none' }), 'reasoning_effort'],
    ['tools', () => ({ tools: [tool] }), 'tools'],
    ['log probabilities', () => ({ logprobs: true }), 'logprobs'],
  ])('%s', async (_, rest, param) => {
    enclave.clearLog();
    const refusal = await refusalOf({ ...session.chat(['hi']), ...rest() });
    expect(refusal).toMatchObject({ status: 400, error: { param } });
    expect(enclave.requests()).toEqual([]);
  });

  it.each<[string, () => Record<string, string>]>([
    ['a missing client key', () => withoutHeader('client')],
    ['a missing model key', () => withoutHeader('model')],
    ['a missing algorithm', () => withoutHeader('algo')],
    ['another algorithm', () => ({ ...session.headers, 'x-svc-tee-signing-algo': 'ed25519' })],
    [
      'a key that is not on the curve',
      () => ({ ...session.headers, 'x-svc-tee-client-pub-key': `04${'1'.repeat(128)}` }),
    ],
    [
      'a short key',
      () => ({ ...session.headers, 'x-svc-tee-model-pub-key': session.modelKey.slice(0, 128) }),
    ],
  ])('%s', async (_, headers) => {
    const refusal = await refusalOf(session.chat(['hi']), headers());
    expect(refusal).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
    expect(refusal.error.message).toMatch(/^Invalid E2EE headers: /);
  });

  it('a model without an enclave', async () => {
    const refusal = await refusalOf(session.chat(['hi'], { model: 'able' }));
    expect(refusal).toMatchObject({ status: 400 });
    expect(refusal.error.message).toMatch(/able does not support encryption/);
  });

  it('accepts keys with 0x, in capitals and without their first byte', async () => {
    const headers = {
      ...session.headers,
      'x-svc-tee-model-pub-key': `0x${session.modelKey.slice(2).toUpperCase()}`,
    };
    expect((await ask(session.chat(['Say exactly "hi"']), account, headers)).text).toBe('hi');
  });
});

describe('the cost of an encrypted chat', () => {
  it('is that of the tokens that the backend counts', async () => {
    const before = await nanoOf(account);
    const { chunks } = await ask(session.chat(['Say exactly "one two three four"']));
    const { usage, cost } = chunks.at(-1) ?? {};
    const entry = enclave.requests().at(-1);
    expect([usage?.prompt_tokens, usage?.completion_tokens]).toEqual([
      entry?.promptTokens,
      entry?.completionTokens,
    ]);
    const nano = (usage?.prompt_tokens ?? 0) * INPUT_NANO + (usage?.completion_tokens ?? 0) * OUTPUT_NANO;
    expect(Math.round((cost?.usd ?? 0) * 1e9)).toBe(nano);
    await eventually('it is posted', async () => before - (await nanoOf(account)) === nano);
  });

  it('is estimated from the size of the texts, as for its plain twin, if the backend counts nothing', async () => {
    const prompt = 'Say exactly "a response of some words, none of them long"';
    const { chunks, text } = await ask(session.chat([prompt], { model: 'silent' }));
    const usageOfPlain = async (): Promise<Chunk['usage']> => {
      const messages = [{ role: 'user', content: prompt }];
      const body = { model: 'silent', stream: true, messages, svc_parameters: NO_HOUSE_PROMPT };
      return (await chunksOf(await platform.chat(account.apiKey, body))).chunks.at(-1)?.usage;
    };
    expect(chunks.at(-1)?.usage).toEqual(await usageOfPlain());
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(Math.ceil(Buffer.byteLength(text) / 3.2));
  });

  it('can begin with the same money as in plaintext, whatever the size of its texts', async () => {
    for (const texts of [['hi'], ['You are terse.', 'naïve 🙂'.repeat(50)], ['x'.repeat(10_000)]]) {
      const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      const promptTokens = Math.ceil(bytes / 3.2) + 4 * texts.length;
      // The prompt and one token of the response.
      const leastNano = promptTokens * INPUT_NANO + OUTPUT_NANO;
      for (const [nano, status] of [
        [leastNano, 200],
        [leastNano - INPUT_NANO, 402],
      ] as const) {
        const statusOf = async (messages: readonly object[], headers = {}): Promise<number> => {
          const { apiKey } = await platform.account((nano / 1e9).toFixed(6));
          const body = { model: 'encrypted', stream: true, messages, svc_parameters: NO_HOUSE_PROMPT };
          const response = await platform.chat(apiKey, body, { headers });
          await response.arrayBuffer();
          return response.status;
        };
        const plain = texts.map((content) => ({ role: 'user', content }));
        const statuses = [
          await statusOf(plain),
          await statusOf(session.chat(texts).messages, session.headers),
        ];
        expect([bytes, statuses]).toEqual([bytes, [status, status]]);
      }
    }
  });

  it('ends with `length` after a whole piece when the money ends, and takes no more than there is', async () => {
    const poor = await platform.account('0.002');
    const chat = session.chat(['go [[sim tokens=400 itl-ms=1]]']);
    const { chunks, pieces } = await ask(chat, poor);
    const finish = chunks.flatMap(({ choices }) => choices).find(({ finish_reason: reason }) => reason);
    expect(finish?.finish_reason).toBe('length');
    expect(pieces.length).toBeGreaterThan(10);
    expect(pieces.length).toBeLessThan(101);
    await eventually('it is posted', async () => (await nanoOf(poor)) < 2e6 / 2);
    expect(await nanoOf(poor)).toBeGreaterThanOrEqual(0);
  });

  it('is that of what was delivered if the client leaves', async () => {
    const leaver = await platform.account('1.00');
    const leaving = new AbortController();
    const chat = session.chat(['go [[sim tokens=4000 itl-ms=5]]']);
    const response = await platform.chat(leaver.apiKey, chat, {
      headers: session.headers,
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    await eventually('it is charged', async () => (await nanoOf(leaver)) < 1e9);
    expect(await nanoOf(leaver)).toBeGreaterThan(1e9 - 2_000 * OUTPUT_NANO);
  });
});

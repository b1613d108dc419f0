import { hash } from 'node:crypto';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chunksOf, eventually } from '../response-bodies.js';
import { ENCRYPTED_MODEL, enclaveAt } from '../enclaves.js';
import { type EncryptedStream, deltasOf, encryptedStream } from '../encrypted-stream.js';
import { EncryptionSession } from '../encryption-session.js';
import { Platform, type TestAccount } from '../platform.js';
import { TamperingProxy } from '../tampering-proxy.js';

/** Nano-dollars per token. */
const INPUT_NANO = 1_000;
const OUTPUT_NANO = 20_000;

let enclave: Simulator;
let proxy: TamperingProxy;
let platform: Platform;
let account: TestAccount;
let session: EncryptionSession;

beforeAll(async () => {
  enclave = await startSimulator();
  proxy = await TamperingProxy.start(enclave.url);
  const backends = [enclaveAt(proxy.url)];
  platform = await Platform.start({
    models: [{ ...ENCRYPTED_MODEL, id: 'tampered', pricing: { input: 1, output: 20 }, backends }],
  });
  account = await platform.account('100.00');
  session = await EncryptionSession.with(enclave);
});

afterAll(async () => {
  await platform.stop();
  await proxy.close();
  await enclave.close();
});

const ask = (body: object, { apiKey } = account): Promise<EncryptedStream> =>
  encryptedStream(platform, body, { session, apiKey, headers: session.headers });

const nanoOf = async ({ id }: TestAccount): Promise<number> =>
  Math.round(Number((await platform.balances(id)).usd) * 1e9);

describe('the cost of an encrypted chat', () => {
  it('is bounded by the size of the texts, whatever the backend claims', async () => {
    const overstated = (events: readonly string[]): string[] =>
      events.map((event) =>
        event.replace(/"usage":\{.*\}\}$/, '"usage":{"prompt_tokens":9000000,"completion_tokens":8000}}'),
      );
    const prompt = 'Say exactly "a few words"';
    const chat = session.chat([prompt], { model: 'tampered' });
    const { chunks, text } = await proxy.during(overstated, () => ask(chat));
    const { usage } = chunks.at(-1) ?? {};
    expect(usage?.completion_tokens).toBe(Math.ceil(text.length / 3.2));
    expect(usage?.prompt_tokens).toBe(Math.ceil(prompt.length / 3.2) + 4);
  });
});

describe('a backend that sends something unencrypted', () => {
  const FAILED = { code: 'e2ee_plaintext_from_backend', type: 'api_error' };
  const SECRET = 'plaintext of a backend';

  /** Replaces the delta of the sixth event, and of all that follow. */
  const sends =
    (member: object) =>
    (events: readonly string[]): string[] =>
      events.map((event, at) =>
        at < 5 ? event : event.replace(/"delta":\{[^}]*\}/, `"delta":${JSON.stringify(member)}`),
      );

  it.each<[string, object]>([
    ['text', { content: SECRET }],
    ['text of one letter', { content: 'x' }],
    ['reasoning', { reasoning_content: SECRET }],
    ['reasoning by another name', { reasoning: SECRET }],
    ['a refusal', { refusal: SECRET }],
    ['parts', { content: [{ type: 'text', text: SECRET }] }],
    ['an unknown member', { thoughts: SECRET }],
    ['a call of a tool', { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: SECRET } }] }],
    ['hex that is too short', { content: '04'.repeat(92) }],
    ['hex of odd length', { content: `04${'0'.repeat(191)}` }],
    ['text after a ciphertext', { content: `04${'0'.repeat(190)} ${SECRET}` }],
  ])('ends the stream before %s, and is paid for what came before', async (_, member) => {
    const payer = await platform.account('1.00');
    const chat = session.chat(['go [[sim tokens=30]]'], { model: 'tampered' });
    const stream = await proxy.during(sends(member), () => ask(chat, payer));
    expect(stream.error).toMatchObject(FAILED);
    expect(JSON.stringify(stream.chunks)).not.toContain(SECRET);
    expect(stream.pieces.length).toBe(4);
    const tokens = Math.ceil(Buffer.byteLength(stream.text) / 3.2);
    const prompt = Math.ceil('go [[sim tokens=30]]'.length / 3.2) + 4;
    const nano = 1e9 - tokens * OUTPUT_NANO - prompt * INPUT_NANO;
    await eventually('it is posted', async () => (await nanoOf(payer)) < 1e9);
    const left = await nanoOf(payer);
    // The backend's count of the prompt is not known, since the stream was cut.
    expect(left).toBe(nano);
  });

  it.each([
    { content: [{ token: SECRET }] },
    { content: SECRET },
    [{ token: SECRET }],
    { token: SECRET },
    { [SECRET]: -1 },
    SECRET,
  ])('ends the stream at log probabilities: %j', async (logprobs) => {
    const withLogprobs = (events: readonly string[]): string[] =>
      events.map((event) => event.replaceAll('"logprobs":null', `"logprobs":${JSON.stringify(logprobs)}`));
    const chat = session.chat(['hi'], { model: 'tampered' });
    const stream = await proxy.during(withLogprobs, () => ask(chat));
    expect(stream.error).toMatchObject(FAILED);
    expect(JSON.stringify(stream.chunks)).not.toContain(SECRET);
  });

  it('may send white space as it is', async () => {
    const spaced = (events: readonly string[]): string[] =>
      events.flatMap((event, at) =>
        at === 3 ? [event.replace(/"delta":\{[^}]*\}/, '"delta":{"content":"\\n "}'), event] : [event],
      );
    const chat = session.chat(['hi'], { model: 'tampered' });
    const response = await proxy.during(spaced, () =>
      platform.chat(account.apiKey, chat, { headers: session.headers }),
    );
    const { chunks } = await chunksOf(response);
    expect(deltasOf(chunks)).toContain('\n ');
    expect(chunks.at(-1)?.error).toBeUndefined();
  });

  it('has its words about an error hidden', async () => {
    const failing = (events: readonly string[]): string[] => [
      ...events.slice(0, 4),
      `data: {"error":{"message":"${SECRET}","type":"plaintext_of_a_backend","code":"plaintext_of_a_backend"}}`,
    ];
    const chat = session.chat(['hi'], { model: 'tampered' });
    const stream = await proxy.during(failing, () => ask(chat));
    expect(stream.error).toMatchObject({ code: 'INFERENCE_FAILED' });
    expect(JSON.stringify(stream.chunks) + (await platform.log())).not.toMatch(/plaintext.of.a.backend/);
  });
});

describe('a backend that sends a ciphertext without end', () => {
  /** Replaces the content of the sixth event. */
  const withText =
    (bytes: number) =>
    (events: readonly string[]): string[] =>
      events.map((event, at) =>
        at === 5 ? event.replace(/"content":"[^"]*"/, `"content":"04${'5a'.repeat(92 + bytes)}"`) : event,
      );

  it('is cut off before a piece that is longer than its tokens can be, and is paid for what came before', async () => {
    const payer = await platform.account('1.00');
    const chat = session.chat(['go [[sim tokens=15]]'], { model: 'tampered', max_tokens: 20 });
    const stream = await proxy.during(withText(20 * 128 + 1), () => ask(chat, payer));
    expect(stream.error).toBeUndefined();
    expect(stream.pieces.length).toBe(4);
    const finish = stream.chunks.flatMap(({ choices }) => choices).map(({ finish_reason: reason }) => reason);
    expect(finish).toContain('length');
    await eventually('it is posted', async () => (await nanoOf(payer)) < 1e9);
    expect(await nanoOf(payer)).toBeGreaterThanOrEqual(1e9 - 20 * OUTPUT_NANO - 100 * INPUT_NANO);
  });

  it('fails if the piece is larger than an event may be', async () => {
    const chat = session.chat(['go [[sim tokens=15]]'], { model: 'tampered' });
    const stream = await proxy.during(withText(3 * 1_048_576), () => ask(chat));
    expect(stream.error).toMatchObject({ code: 'INFERENCE_FAILED' });
    expect(stream.pieces.length).toBeLessThanOrEqual(4);
  });
});

describe('a response that was changed on its way from the enclave', () => {
  const chat = (): ReturnType<EncryptionSession['chat']> =>
    session.chat(['Say exactly "one two three four"'], { model: 'tampered' });

  it('does not decrypt if a piece was changed, and does not match its signature if one is missing', async () => {
    const flipped = (events: readonly string[]): string[] =>
      events.map((event) =>
        event.replace(
          /("content":"04[0-9a-f]{180})(.)/,
          (_, before: string, digit: string) => before + (digit === '0' ? '1' : '0'),
        ),
      );
    await expect(proxy.during(flipped, () => ask(chat()))).rejects.toThrow(/unable to authenticate/i);
    const dropped = (events: readonly string[]): string[] => events.filter((_, at) => at !== 2);
    const stream = await proxy.during(dropped, () => ask(chat()));
    expect(stream.error).toBeUndefined();
    const query = new URLSearchParams({ model: 'tampered', request_id: stream.chunks[0]?.id ?? '' });
    const signed = (await (await fetch(`${platform.apiUrl}/tee/signature?${query.toString()}`)).json()) as {
      text: string;
    };
    expect(signed.text).toMatch(/^[0-9a-f]{64}:[0-9a-f]{64}$/);
    expect(signed.text).not.toContain(hash('sha256', stream.pieces.join('\n')));
  });
});

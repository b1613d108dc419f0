import { hash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { recover } from 'tiny-secp256k1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../start-simulator.js';
import { newKeyPair, open, seal } from './ciphertext.js';

let simulator: Simulator;
let lookalike: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
  lookalike = await startSimulator({ teeLookalike: true });
});

afterAll(async () => {
  await simulator.close();
  await lookalike.close();
});

interface Report {
  readonly signing_address: string;
  readonly signing_public_key: string;
  readonly request_nonce: string;
  readonly intel_quote: string;
  readonly simulated: boolean;
  readonly tee_provider: string;
  readonly tee_hardware: string;
}

const NONCE = hash('sha256', 'nonce');

async function reportOf({ url }: Simulator, nonce = NONCE): Promise<Report> {
  const response = await fetch(`${url}/v1/attestation/report?model=m&signing_algo=ecdsa&nonce=${nonce}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Report;
}

const keyOf = ({ signing_public_key: digits }: Report): Uint8Array => Buffer.from(`04${digits}`, 'hex');

interface Chunk {
  readonly choices: { delta: { content?: string; reasoning_content?: string } }[];
}

const client = newKeyPair();
const clientKey = Buffer.from(client.publicKey).toString('hex');

function ask(body: object, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${simulator.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-signing-algo': 'ecdsa',
      'x-client-pub-key': clientKey,
      'x-request-id': '0199f3a1-c2d3-7b8e-8000-000000000000',
      ...headers,
    },
    body: JSON.stringify({ model: 'm', stream: true, ...body }),
    ...(signal && { signal }),
  });
}

async function sealedMessages(...texts: readonly string[]): Promise<{ role: string; content: string }[]> {
  const key = keyOf(await reportOf(simulator));
  return texts.map((text) => ({ role: 'user', content: seal(text, key) }));
}

/** The ciphertexts of a stream, in their order. */
async function ciphertextsOf(response: Response): Promise<string[]> {
  const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('data: {'));
  return events
    .flatMap((event) => (JSON.parse(event.slice('data: '.length)) as Chunk).choices)
    .flatMap(({ delta }) => [delta.content ?? '', delta.reasoning_content ?? ''])
    .filter((text) => text !== '');
}

describe('the report', () => {
  it('says that it is simulated, in words, by its debug bit, and in members of its JSON', async () => {
    const report = await reportOf(simulator);
    const quote = Buffer.from(report.intel_quote, 'hex');
    expect(quote.toString('latin1')).toContain('SIMULATED NO TEE');
    expect(quote.toString('latin1', 184, 232)).toMatch(/^SIMULATED NOT A TEE/);
    expect((quote[168] ?? 0) & 1).toBe(1);
    expect(report).toMatchObject({ simulated: true, tee_provider: 'simulator', tee_hardware: 'none' });
    expect(quote.readUInt32LE(632)).toBe(0);
  });

  it('binds key and nonce', async () => {
    const report = await reportOf(simulator);
    const quote = Buffer.from(report.intel_quote, 'hex');
    const address = Buffer.from(keccak_256(keyOf(report).subarray(1)).subarray(12)).toString('hex');
    expect(report.signing_address).toBe(`0x${address}`);
    expect(quote.toString('hex', 568, 588)).toBe(address);
    expect(quote.toString('hex', 600, 632)).toBe(NONCE);
    expect(report.request_nonce).toBe(NONCE);
  });

  it('lacks only the debug bit in a look-alike', async () => {
    const report = await reportOf(lookalike);
    const quote = Buffer.from(report.intel_quote, 'hex');
    expect(quote[168]).toBe(0);
    expect(quote.toString('latin1')).toContain('SIMULATED NO TEE');
    expect(report.simulated).toBe(true);
  });

  it.each([
    ['nonce', '00'.repeat(31)],
    ['nonce', '00'.repeat(33)],
    ['nonce', 'zz'.repeat(32)],
    ['signing_algo', 'ed25519'],
  ])('is refused for the %s %s', async (name, value) => {
    const response = await fetch(`${simulator.url}/v1/attestation/report?${name}=${value}`);
    expect(response.status).toBe(400);
  });
});

describe('an encrypted request', () => {
  it('is decrypted, and each piece of its response is encrypted for the client', async () => {
    const response = await ask({
      messages: await sealedMessages('You are terse.', 'Say exactly "héllo there"'),
    });
    const pieces = await ciphertextsOf(response);
    expect(pieces.map((piece) => open(piece, client.secret)).join('')).toBe('héllo there');
    for (const piece of pieces)
      expect(piece.length).toBe(186 + 2 * Buffer.byteLength(open(piece, client.secret)));
  });

  it('has reasoning that is encrypted too', async () => {
    const response = await ask({ model: 'sim-reason', messages: await sealedMessages('Say exactly "x"') });
    const pieces = await ciphertextsOf(response);
    expect(pieces.length).toBeGreaterThan(10);
    for (const piece of pieces) open(piece, client.secret);
  });

  it('ends when its client leaves, even if each piece takes longer than its time', async () => {
    const messages = await sealedMessages('go [[sim tokens=4000 itl-ms=0.001]]');
    const leaving = new AbortController();
    const response = await ask({ messages }, {}, leaving.signal);
    await response.body?.getReader().read();
    leaving.abort();
    const last = async (): Promise<unknown> => {
      const log = (await (await fetch(`${simulator.url}/sim/requests`)).json()) as { data: object[] };
      return log.data.at(-1);
    };
    await expect.poll(last, { timeout: 30_000 }).toMatchObject({ outcome: 'cancelled' });
  });

  it('is signed over its ciphertexts and those of its response', async () => {
    const messages = await sealedMessages('You are terse.', 'Say exactly "one two three"');
    const pieces = await ciphertextsOf(await ask({ messages }));
    const id = 'chatcmpl-0199f3a1-c2d3-7b8e-8000-000000000000';
    const signed = (await (await fetch(`${simulator.url}/v1/signature/${id}`)).json()) as {
      text: string;
      signature: string;
      signing_address: string;
    };
    const hashOf = (texts: readonly string[]): string => hash('sha256', texts.join('\n'));
    expect(signed.text).toBe(`${hashOf(messages.map(({ content }) => content))}:${hashOf(pieces)}`);
    const digest = keccak_256(
      Buffer.from(`\u0019Ethereum Signed Message:\n${signed.text.length}${signed.text}`),
    );
    const signature = Buffer.from(signed.signature.slice(2), 'hex');
    const parity = (signature[64] ?? 0) === 28 ? 1 : 0;
    const key = recover(digest, signature.subarray(0, 64), parity, false);
    expect(Buffer.from(key ?? []).equals(keyOf(await reportOf(simulator)))).toBe(true);
    const other = await fetch(`${simulator.url}/v1/signature/chatcmpl-unknown`);
    expect(other.status).toBe(404);
  });

  it('gets one and the same error, whatever is wrong with a ciphertext', async () => {
    const [{ content } = { content: '' }] = await sealedMessages('hello');
    const flipped = (at: number): string =>
      content.slice(0, at) + (content[at] === '0' ? '1' : '0') + content.slice(at + 1);
    const faulty = ['zz', 'abc', 'plain text', '00'.repeat(93), ...[2, 131, 155, 170].map(flipped)];
    const bodies = await Promise.all(
      faulty.map(async (text) => {
        const response = await ask({ messages: [{ role: 'user', content: text }] });
        expect(response.status).toBe(400);
        return response.text();
      }),
    );
    expect(new Set(bodies).size).toBe(1);
  });

  it.each([
    [{ 'x-signing-algo': 'rsa' }, {}, /X-Signing-Algo/],
    [{ 'x-client-pub-key': '04'.padEnd(130, '1') }, {}, /public key/],
    [{}, { stream: false }, /streaming/],
  ])('is refused with the headers %j and the members %j', async (headers, body, reason) => {
    const response = await ask({ messages: await sealedMessages('hi'), ...body }, headers);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(reason);
  });
});

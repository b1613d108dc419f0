import { type Simulator, startSimulator } from '@svc/simulator';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCanary } from '../canaries.js';
import { ENCRYPTED_MODEL, enclaveAt } from '../enclaves.js';
import { EncryptionSession } from '../encryption-session.js';
import { Platform, type TestAccount } from '../platform.js';
import { type ApiErrorBody, chunksOf, eventually } from '../response-bodies.js';

const FLIPS = repeats('BIT_FLIPS');

let enclave: Simulator;
let platform: Platform;
let account: TestAccount;
let session: EncryptionSession;

beforeAll(async () => {
  enclave = await startSimulator();
  platform = await Platform.start({
    models: [{ ...ENCRYPTED_MODEL, backends: [enclaveAt(enclave.url)] }],
    env: { SVC_LOG_LEVEL: 'trace' },
  });
  account = await platform.account('1.00');
  session = await EncryptionSession.with(enclave);
});

afterAll(async () => {
  await platform.stop();
  await enclave.close();
});

/** An encrypted chat as it is sent. */
interface SentChat {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** A random place, and a bit of the byte there. */
interface Flip {
  readonly at: number;
  readonly bit: number;
}

const flips = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  bit: fc.integer({ min: 0, max: 7 }),
});

function flipped(bytes: Buffer, { at, bit }: Flip): Buffer {
  const changed = Buffer.from(bytes);
  const place = Math.floor(at * bytes.length);
  changed[place] = (changed[place] ?? 0) ^ (1 << bit);
  return changed;
}

const flippedHex = (hex: string, flip: Flip): string =>
  flipped(Buffer.from(hex, 'hex'), flip).toString('hex');

/** The ways to change one bit of a chat; undefined if the chat stays the same. */
const WAYS: Readonly<Record<string, (chat: SentChat, flip: Flip) => SentChat | undefined>> = {
  // Hex digits may be in either case.
  'the body': ({ body, headers }, flip) => {
    const changed = flipped(Buffer.from(body), flip).toString('latin1');
    return changed.toLowerCase() === body.toLowerCase() ? undefined : { body: changed, headers };
  },
  'a ciphertext': ({ body, headers }, flip) => {
    const { messages, ...rest } = JSON.parse(body) as { messages: { role: string; content: string }[] };
    const changed = messages.map(({ role, content }) => ({ role, content: flippedHex(content, flip) }));
    return { body: JSON.stringify({ ...rest, messages: changed }), headers };
  },
  'the key of the client': (chat, flip) => withHeader(chat, 'x-svc-tee-client-pub-key', flip),
  'the key of the model': (chat, flip) => withHeader(chat, 'x-svc-tee-model-pub-key', flip),
};

const withHeader = ({ body, headers }: SentChat, name: string, flip: Flip): SentChat => ({
  body,
  headers: { ...headers, [name]: flippedHex(headers[name] ?? '', flip) },
});

function send({ apiKey }: TestAccount, { body, headers }: SentChat): Promise<Response> {
  return platform.chat(apiKey, '', { headers, body: Buffer.from(body, 'latin1') });
}

const nanoOf = async ({ id }: TestAccount): Promise<number> =>
  Math.round(Number((await platform.balances(id)).usd) * 1e9);

describe('an encrypted chat in which one bit was changed', () => {
  it.each(Object.entries(WAYS))(
    'is refused, costs nothing and reveals nothing: %s',
    async (_, changed) => {
      const canary = newCanary();
      const chat = session.chat([`Say exactly "${canary}"`]);
      const tails = chat.messages.map(({ content }) => content.slice(-64));
      const sent: SentChat = { body: JSON.stringify(chat), headers: session.headers };
      // Unchanged, it is accepted.
      const response = await send(await platform.account('1.00'), sent);
      expect(response.status).toBe(200);
      expect((await chunksOf(response)).chunks.at(-1)?.error).toBeUndefined();
      const refusals = new Set<string>();
      await fc.assert(
        fc.asyncProperty(flips, async (flip) => {
          const wrong = changed(sent, flip);
          fc.pre(wrong !== undefined);
          const refused = await send(account, wrong);
          const text = await refused.text();
          expect([400, 404]).toContain(refused.status);
          for (const secret of [canary, ...tails]) expect(text).not.toContain(secret);
          const { error } = JSON.parse(text) as ApiErrorBody;
          refusals.add(`${error.param}: ${error.message}`);
        }),
        { numRuns: FLIPS },
      );
      expect(refusals.size).toBeGreaterThan(0);
      const log = await platform.log();
      expect([canary, ...tails].filter((secret) => log.includes(secret))).toEqual([]);
      await eventually('holds are released', async () => (await nanoOf(account)) === 1e9);
    },
    FLIPS * 1_000,
  );

  it('is refused by the enclave with one text, whichever bit of a ciphertext was changed', async () => {
    const chat = session.chat(['a secret of some length']);
    const refusals = new Set<string>();
    const refuses = async (flip: Flip): Promise<void> => {
      const messages = chat.messages.map(({ role, content }) => ({
        role,
        // The first byte is checked before anything is sent.
        content: content.slice(0, 2) + flippedHex(content.slice(2), flip),
      }));
      const response = await platform.chat(
        account.apiKey,
        { ...chat, messages },
        { headers: session.headers },
      );
      const { error } = (await response.json()) as ApiErrorBody;
      refusals.add(`${response.status} ${error.param}: ${error.message}`);
    };
    await fc.assert(fc.asyncProperty(flips, refuses), { numRuns: FLIPS });
    expect([...refusals]).toEqual([expect.stringMatching(/^400 messages: Failed to decrypt field/)]);
  });
});

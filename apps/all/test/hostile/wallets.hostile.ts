import { LocalChain } from '@svc/infra';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Buyer, type Seller, buyer, paymentOf, sellerOn } from '../buyers.js';
import { Platform } from '../platform.js';
import { Random } from '../random.js';
import { base64, challengeOf, evmWallet, solanaWallet } from '../wallets.js';

const EACH = 100;

let chain: LocalChain;
let seller: Seller;
let platform: Platform;
let payer: Buyer;

beforeAll(async () => {
  chain = await LocalChain.start();
  seller = await sellerOn(chain);
  platform = await Platform.start({ env: seller.env });
  payer = await buyer(chain, 100);
});
afterAll(async () => {
  await platform?.stop();
  await chain?.stop();
});

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values that are invalid in every field, each for another kind of parser. */
const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  ' ',
  '0x',
  `0x${'0'.repeat(40)}`,
  '\u0000',
  '\n\nNonce: 1',
  '9'.repeat(400),
  '\u202e',
  [],
  [[[]]],
  {},
  { __proto__: { admin: true } },
  'constructor',
  `${'a'.repeat(3_000)}`,
];

/** A payload with one of its fields, at any depth, replaced, removed or duplicated. */
function harmed(payload: Json, random: Random): Json {
  const names = Object.keys(payload);
  const name = random.pick(names);
  const inner = payload[name];
  if (isObject(inner) && random.chance(0.8)) return { ...payload, [name]: harmed(inner, random) };
  const { [name]: removed, ...rest } = payload;
  const others: (() => unknown)[] = [
    () => random.pick(ODD),
    () => [removed, removed],
    () => ({ value: removed }),
    () => flipped(String(removed), random),
  ];
  return random.chance(0.15) ? rest : { ...rest, [name]: random.pick(others)() };
}

/** A text with one of its characters changed. */
function flipped(text: string, random: Random): string {
  const at = random.below(Math.max(1, text.length));
  return `${text.slice(0, at)}${text[at] === '7' ? '8' : '7'}${text.slice(at + 1)}`;
}

const contentOf = (header: string): Json => JSON.parse(Buffer.from(header, 'base64').toString()) as Json;

interface Outcome {
  readonly status: number;
  readonly code: unknown;
}

async function answerOf(response: Response): Promise<Outcome> {
  const body = (await response.json()) as { code?: unknown; error?: unknown };
  return { status: response.status, code: body.code ?? body.error };
}

/** Responses that are not a clear refusal of a client error. */
function faultsOf(answer: Outcome, payload: unknown, statuses: readonly number[]): string[] {
  const isCode = typeof answer.code === 'string' && /^[A-Z0-9_]+$/.test(answer.code);
  if (isCode && statuses.includes(answer.status)) return [];
  return [`${answer.status} ${String(answer.code)} to ${JSON.stringify(payload).slice(0, 600)}`];
}

/** Whether the modified part is not covered by the signature. */
const saysTheSame = (payload: Json, honest: Json): boolean =>
  payload['signature'] === honest['signature'] && payload['nonce'] === honest['nonce'];

it(`refuses ${EACH} hostile sign-ins with a clear 4xx, and admits none`, { timeout: 300_000 }, async () => {
  const random = new Random(15);
  const faults: string[] = [];
  for (let at = 0; at < EACH; at += 1) {
    const wallet = at % 2 === 0 ? evmWallet() : solanaWallet();
    const honest = contentOf(await wallet.signIn(challengeOf(platform.rootUrl)));
    const payload = harmed(honest, random);
    const response = await fetch(`${platform.apiUrl}/x402/balance/${wallet.address}`, {
      headers: { 'SIGN-IN-WITH-X': base64(payload) },
    });
    const answer = await answerOf(response);
    // A change of an unsigned part, such as the type, or one without a different meaning, is not an attack.
    if (answer.status === 200 && saysTheSame(payload, honest)) continue;
    faults.push(...faultsOf(answer, payload, [400, 401, 402, 403, 429, 431]));
  }
  expect(faults).toEqual([]);
});

it(
  `refuses ${EACH} hostile payments with a clear 4xx, and credits nothing`,
  { timeout: 300_000 },
  async () => {
    const random = new Random(402);
    const faults: string[] = [];
    const url = `${platform.apiUrl}/x402/top-up`;
    const honest = contentOf(await paymentOf(payer, url));
    for (let at = 0; at < EACH; at += 1) {
      const payload = { ...honest, payload: harmed(honest['payload'] as Json, random) };
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'PAYMENT-SIGNATURE': base64(payload) },
      });
      faults.push(...faultsOf(await answerOf(response), payload['payload'], [400, 402, 429, 431]));
    }
    expect(faults).toEqual([]);
    expect(await chain.balanceOf(seller.address)).toBe(0n);
    expect((await platform.operator('GET', '/payments')).body).toMatchObject({ data: [] });
    expect((await platform.operator('GET', '/payments/audit')).body).toMatchObject({
      ok: true,
      mismatches: [],
    });
  },
);

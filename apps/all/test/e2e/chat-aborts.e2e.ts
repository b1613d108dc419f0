import { setTimeout as sleep } from 'node:timers/promises';
import type { BillingRequests } from '@svc/api/billing';
import { uuidOf } from '@svc/runtime';
import { type Simulator, startSimulator } from '@svc/simulator';
import { repeats } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { eventually } from '../response-bodies.js';

const MODEL = 'few-slots';
/** A token of the output costs this much, and nothing else costs anything. */
const TOKEN_NANO = 1_000;
const AT_ONCE = 60;
/** An answer is the text of its request, in tokens of six bytes each. */
const TOKEN_BYTES = 6;
const ANSWER_TOKENS = 80;
/** A stream has about four times as many. */
const LAST_BYTES = 5_000;
const TEST = { timeout: 300_000 };

let servers: Simulator[];
let platform: Platform;
let accounts: TestAccount[];

beforeAll(async () => {
  servers = await Promise.all([1, 2].map(() => startSimulator({ port: 0, logRequests: 10_000 })));
  const backends = servers.map(({ url }) => ({ url: `${url}/v1`, model: 'sim', maxInFlight: 20 }));
  platform = await Platform.start({ models: [{ id: MODEL, pricing: { input: 0, output: 1 }, backends }] });
  accounts = await Promise.all([1, 2, 3, 4].map(() => platform.account('100.00')));
});
afterAll(async () => {
  await platform?.stop();
  for (const server of servers) await server.close();
});

/** What a client saw of its request. */
interface LeftRequest {
  /** On the clock of `Date.now()`. */
  leftMs: number;
  tokens: number;
  /** Whether the whole response arrived. */
  isWhole: boolean;
}

/** What the servers did for a request. */
interface ServedRequest {
  readonly number: number;
  readonly outcomes: readonly string[];
  /** The most tokens that the client may have got of a stream. */
  readonly tokens: number;
  /** On the clock of `Date.now()`, if the request was cancelled there. */
  readonly cancelledMs: number | undefined;
}

/**
 * Begins a request, and leaves at a random moment: half of them in the middle of their stream, however long
 * it takes to begin, the others wherever they are then.
 */
async function leave(account: TestAccount | undefined, number: number): Promise<LeftRequest> {
  const left = { leftMs: Infinity, tokens: 0, isWhole: false };
  const leaving = new AbortController();
  const leaveNow = (): void => {
    left.leftMs = Date.now();
    leaving.abort();
  };
  const stream = number % 4 > 0;
  const lastByte = number % 4 > 1 ? Math.random() * LAST_BYTES : Infinity;
  // It leaves later if the request has not even been sent by then.
  if (lastByte === Infinity) void sleep(Math.random() * 500).then(leaveNow);
  const answer = String(number)
    .padStart(TOKEN_BYTES, '0')
    .padEnd(ANSWER_TOKENS * TOKEN_BYTES, 'letter');
  const messages = [{ role: 'user', content: `${answer} [[sim echo ttft-ms=50 itl-ms=25]]` }];
  let text = '';
  try {
    const body = { model: MODEL, messages, stream };
    const response = await platform.chat(account?.apiKey ?? '', body, { signal: leaving.signal });
    if (response.status !== 200) return left;
    for await (const part of response.body ?? []) {
      text += Buffer.from(part).toString();
      if (text.length > lastByte) leaveNow();
    }
    left.isWhole = true;
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  }
  // Of a response that is not streamed, the whole counts.
  if (stream || left.isWhole)
    for (const [, piece = ''] of text.matchAll(/"content":"([^"]*)"/g))
      left.tokens += piece.length / TOKEN_BYTES;
  return left;
}

/**
 * What the servers did, by the ids that the platform sent. A request that has waited for its first byte may
 * have been at both; the client got the response of one of them.
 */
function servedRequests(): Map<string, ServedRequest> {
  const served = new Map<string, ServedRequest>();
  for (const server of servers) {
    const cancellations = new Map(server.cancellations().map((one) => [one.id, one]));
    for (const { id, body, headers, outcome, stream, completionTokens } of server.requests()) {
      const cancelled = cancellations.get(id);
      const sent = cancelled?.tokensDelivered ?? completionTokens;
      const requestId = String(headers['x-request-id']);
      const other = served.get(requestId);
      served.set(requestId, {
        number: Number(/"(\d{6})letter/.exec(body)?.[1]),
        outcomes: [...(other?.outcomes ?? []), outcome],
        tokens: Math.max(stream ? sent : 0, other?.tokens ?? 0),
        cancelledMs: cancelled ? Date.parse(cancelled.at) : other?.cancelledMs,
      });
    }
  }
  return served;
}

/**
 * The charges that a request may have, in tokens. A server reports its count with the end of a response; what
 * was delivered of others is counted by its size. What the platform had sent when the client left lies
 * between what arrived and what it got itself.
 */
function fairCharges({ outcomes, tokens }: ServedRequest, left: LeftRequest | undefined): number[] {
  if (left?.isWhole === true) return [ANSWER_TOKENS];
  const arrived = left?.tokens ?? 0;
  const possible = Array.from({ length: Math.max(0, tokens - arrived + 1) }, (_, more) =>
    Math.ceil(((arrived + more) * TOKEN_BYTES) / 3.2),
  );
  return outcomes.includes('served') ? [...possible, ANSWER_TOKENS] : possible;
}

/** The charges of all accounts in nano-dollars, by the ids that backends got. */
async function chargesOf(): Promise<Map<string, number>> {
  const charges = new Map<string, number>();
  for (const { apiKey } of accounts) {
    let cursor: string | null = '';
    while (cursor !== null) {
      const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const response = await fetch(`${platform.apiUrl}/billing/requests?limit=200${more}`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      const page = (await response.json()) as BillingRequests;
      for (const { requestId, usd } of page.data)
        charges.set(uuidOf(String(requestId)), Math.round(usd * 1e9));
      cursor = page.nextCursor;
    }
  }
  return charges;
}

/** What requests that have ended still hold of an account. */
async function heldOf({ id }: TestAccount): Promise<unknown> {
  return (await platform.operator('GET', `/accounts/${id}/holds`)).body['data'];
}

/** Prints how late servers were left. It depends on the machine, so it is no condition. */
function printDelays(delaysMs: readonly number[]): void {
  const sorted = delaysMs.toSorted((one, other) => one - other);
  const late = sorted.filter((ms) => ms > 50).length;
  const p99 = sorted[Math.floor(sorted.length * 0.99)];
  process.stdout.write(
    `${sorted.length} requests were cancelled at their server, ${late} later than 50 ms, p99 ${p99} ms\n`,
  );
}

it(
  'requests that are left at any moment, also in a queue, end at the server, and each costs what was delivered',
  TEST,
  async () => {
    const count = repeats('ABORTS');
    const left = new Map<number, LeftRequest>();
    let number = 0;
    const client = async (): Promise<void> => {
      while (number < count) {
        number += 1;
        const mine = number;
        left.set(mine, await leave(accounts[mine % accounts.length], mine));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));

    await eventually('no server works for anyone', () =>
      servers.every((server) => server.stats().inFlight === 0 && server.stats().queued === 0),
    );
    const served = servedRequests();
    const cancelled = [...served.values()].filter(({ cancelledMs }) => cancelledMs !== undefined);
    expect(cancelled.length).toBeGreaterThan(count / 5);
    // The others waited for a server that had no place for them.
    expect(count - served.size).toBeGreaterThan(0);
    // On a machine that stood still for a while, a server may have ended its response before.
    const uncancelled = [...served.values()].filter(
      ({ outcomes }) => !outcomes.includes('cancelled') && !outcomes.includes('served'),
    );
    expect(uncancelled).toEqual([]);
    printDelays(
      cancelled.map((one) => Math.max(0, (one.cancelledMs ?? 0) - (left.get(one.number)?.leftMs ?? 0))),
    );

    const spentNano = async (): Promise<number> => {
      const balances = await Promise.all(accounts.map(({ id }) => platform.balances(id)));
      return Math.round(balances.reduce((sum, { usd }) => sum + (100 - Number(usd)) * 1e9, 0));
    };
    let charges = new Map<string, number>();
    await eventually('all charges are posted', async () => {
      charges = await chargesOf();
      const arrived = [...served].filter(([, { number: of }]) => (left.get(of)?.tokens ?? 0) > 0);
      const chargedNano = [...charges.values()].reduce((sum, nano) => sum + nano, 0);
      return arrived.every(([id]) => charges.has(id)) && chargedNano === (await spentNano());
    });
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
    for (const account of accounts) await expect.poll(() => heldOf(account)).toEqual([]);
    // A request that was left while it waited costs nothing.
    expect([...charges.keys()].filter((id) => !served.has(id))).toEqual([]);
    const wrong = [...served].flatMap(([id, of]) => {
      const chargedTokens = (charges.get(id) ?? 0) / TOKEN_NANO;
      const fair = fairCharges(of, left.get(of.number));
      return fair.includes(chargedTokens) ? [] : [{ ...of, chargedTokens, left: left.get(of.number) }];
    });
    expect(wrong).toEqual([]);
  },
);

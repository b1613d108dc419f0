import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BackendLoad } from '../backend-load.js';
import type { Sharer } from './token-queue.js';

/** An account whose calls keep waiting until it has sent all. */
interface Demand {
  readonly accountId: string;
  readonly band?: Sharer['band'];
  readonly weight?: number;
  /** How many of its calls are sent at the same time. */
  readonly atOnce: number;
  readonly promptTokens: number;
  /** What its calls really write, which the queue does not know before. */
  readonly outputTokens: (call: number) => number;
}

/**
 * A backend on a virtual clock, where a call takes as long as its tokens. Returns the tokens that each
 * account got in this time.
 */
function served(slots: number, demands: readonly Demand[], untilMs: number): ReadonlyMap<string, number> {
  const load = new BackendLoad();
  const tokens = new Map<string, number>();
  const running: { endsAtMs: number; end: () => void }[] = [];
  let nowMs = 0;
  const send = (demand: Demand, number: number): void => {
    const { accountId, band = 'interactive', weight = 1, promptTokens } = demand;
    const sharer = { accountId, band, weight, promptTokens };
    const run = (giveBack: NonNullable<ReturnType<BackendLoad['take']>>): void => {
      const outputTokens = demand.outputTokens(number);
      const end = (): void => {
        tokens.set(accountId, (tokens.get(accountId) ?? 0) + promptTokens + outputTokens);
        send(demand, number + 1);
        giveBack({ promptTokens, outputTokens });
      };
      running.push({ endsAtMs: nowMs + promptTokens + outputTokens, end });
    };
    const given = load.take(sharer, slots);
    if (given) run(given);
    else
      load.join({
        ...sharer,
        maxInFlight: slots,
        grant: run,
        refuse: () => {
          throw new Error('the queue is long enough');
        },
      });
  };
  for (const demand of demands) for (let each = 0; each < demand.atOnce; each += 1) send(demand, each);
  while (nowMs < untilMs) {
    const next = running.toSorted((a, b) => a.endsAtMs - b.endsAtMs)[0];
    if (!next) throw new Error('a call runs');
    nowMs = next.endsAtMs;
    running.splice(running.indexOf(next), 1);
    next.end();
  }
  return tokens;
}

const shareOf = (tokens: ReadonlyMap<string, number>, accountId: string): number => {
  const all = [...tokens.values()].reduce((sum, each) => sum + each, 0);
  return (tokens.get(accountId) ?? 0) / all;
};

/** A demand for calls of this many tokens, in one or many at a time. */
const demand = (accountId: string, tokens: number, more: Partial<Demand> = {}): Demand => ({
  accountId,
  atOnce: 8,
  promptTokens: Math.ceil(tokens / 2),
  outputTokens: () => Math.floor(tokens / 2),
  ...more,
});

const LONG_MS = 2_000_000;

describe('accounts that wait for a backend', () => {
  it.each([
    [1, 8, 10, 1_000],
    [1, 8, 1_000, 10],
    [2, 8, 100, 400],
    [4, 8, 50, 500],
    [16, 13, 200, 600],
  ])(
    'get as many tokens each, of %d slots, with %d calls of %d or %d tokens each',
    (slots, atOnce, ...sizes) => {
      const tokens = served(
        slots,
        [demand('a', sizes[0], { atOnce }), demand('b', sizes[1], { atOnce })],
        LONG_MS,
      );
      expect(shareOf(tokens, 'a')).toBeGreaterThan(0.45);
      expect(shareOf(tokens, 'a')).toBeLessThan(0.55);
    },
  );

  it('get as many tokens each if one sends a hundred times as many calls', () => {
    const tokens = served(
      64,
      [demand('crowd', 300, { atOnce: 75 }), demand('one', 300, { atOnce: 40 })],
      LONG_MS,
    );
    expect(shareOf(tokens, 'one')).toBeGreaterThan(0.45);
    const few = served(2, [demand('crowd', 300, { atOnce: 15 }), demand('one', 300, { atOnce: 2 })], LONG_MS);
    expect(shareOf(few, 'one')).toBeGreaterThan(0.45);
  });

  it('get as many tokens each, whatever their sizes and estimates (random demands)', () => {
    const size = fc.integer({ min: 4, max: 2_000 });
    const property = fc.property(
      fc.tuple(size, size, size),
      fc.integer({ min: 1, max: 3 }),
      (sizes, slots) => {
        const demands = sizes.map((tokens, index) =>
          demand(`account-${index}`, tokens, {
            atOnce: 5,
            // Between nothing and twice the usual.
            outputTokens: (call) => Math.floor((tokens / 2) * ((call * 7) % 3)),
          }),
        );
        // Some hundred calls of the largest account.
        const tokens = served(slots, demands, 400 * Math.max(...sizes));
        for (const { accountId } of demands) {
          expect(shareOf(tokens, accountId)).toBeGreaterThan(0.3);
          expect(shareOf(tokens, accountId)).toBeLessThan(0.37);
        }
      },
    );
    fc.assert(property, { numRuns: 40 });
  });

  it('get tokens in proportion to the weights of their calls', () => {
    const tokens = served(1, [demand('a', 100, { weight: 4 }), demand('b', 300)], LONG_MS);
    expect(shareOf(tokens, 'a')).toBeGreaterThan(0.75);
    expect(shareOf(tokens, 'a')).toBeLessThan(0.85);
  });

  it('gain nothing by calls that end without counts, since their output is estimated', () => {
    const load = new BackendLoad();
    const sharer = { accountId: 'a', band: 'interactive' as const, weight: 1, promptTokens: 10 };
    const order: string[] = [];
    const first = load.take(sharer, 1);
    const wait = (accountId: string, outputTokens: number): void => {
      load.join({
        ...sharer,
        accountId,
        maxInFlight: 1,
        refuse: () => undefined,
        grant: (giveBack) => {
          order.push(accountId);
          giveBack({ promptTokens: undefined, outputTokens });
        },
      });
    };
    for (let each = 0; each < 4; each += 1) wait('aborts', 3_000);
    for (let each = 0; each < 4; each += 1) wait('stays', 300);
    first?.({ promptTokens: 10, outputTokens: 1 });
    expect(order.join(' ')).toBe('aborts stays stays stays stays aborts aborts aborts');
  });
});

describe('calls in the background', () => {
  it('wait behind interactive ones, but keep a share', () => {
    const tokens = served(2, [demand('a', 200), demand('b', 300, { band: 'background' })], LONG_MS);
    expect(shareOf(tokens, 'b')).toBeGreaterThan(0.04);
    expect(shareOf(tokens, 'b')).toBeLessThan(0.09);
  });

  it('get all that interactive ones leave', () => {
    const tokens = served(
      4,
      [demand('a', 200, { atOnce: 1 }), demand('b', 200, { band: 'background', atOnce: 10 })],
      LONG_MS,
    );
    expect(shareOf(tokens, 'a')).toBeGreaterThan(0.2);
    expect(shareOf(tokens, 'b')).toBeGreaterThan(0.6);
  });
});

describe('an account that has had nothing lately', () => {
  it('is next, however much others have waiting and have had', () => {
    const load = new BackendLoad();
    const order: string[] = [];
    const free: (() => void)[] = [];
    const call = (accountId: string): void => {
      const sharer = { accountId, band: 'interactive' as const, weight: 1, promptTokens: 100 };
      const begin = (giveBack: () => void): void => {
        order.push(accountId);
        free.push(giveBack);
      };
      const given = load.take(sharer, 2);
      if (given) begin(given);
      else load.join({ ...sharer, maxInFlight: 2, grant: begin, refuse: () => undefined });
    };
    for (let each = 0; each < 10; each += 1) call('crowd');
    for (let each = 0; each < 4; each += 1) free.shift()?.();
    call('newcomer');
    free.shift()?.();
    expect(order.at(-1)).toBe('newcomer');
  });
});

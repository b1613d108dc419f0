import { LIMIT_PERIODS, type LimitPeriod } from '@svc/contracts/ports';

/** Accounts of a history, and keys per account. A key's number is its account's times KEYS plus its own. */
export const ACCOUNTS = 2;
export const KEYS = 2;

export interface Limit {
  readonly period: LimitPeriod;
  readonly usd?: number;
  readonly diem?: number;
}

/** One action. Amounts are in units of the history; requests are picked by position among those that fit. */
type Act =
  | {
      do: 'hold';
      /** One parallel request for each key. */
      keys: readonly number[];
      amount: number;
      atLeast?: number;
      preferred?: number;
    }
  | { do: 'holdAgain'; request: number }
  | { do: 'extend'; request: number; more: number; atLeast?: number; again: boolean }
  | {
      do: 'settle';
      request: number;
      /** Percent of the hold. */
      usd: number;
      diem: number;
      /** Beyond the hold. */
      beyond: number;
      lines: number;
      /** The event log responds, responds later, stores nothing, or stores the event but rejects. */
      log: 'works' | 'later' | 'refuses' | 'loses';
    }
  | { do: 'logAnswers' | 'settleAgain' | 'release' | 'releaseLate'; request: number }
  | { do: 'renew' | 'databaseResponds' }
  | { do: 'wait'; minutes: number }
  | { do: 'skip'; days: number }
  | {
      do: 'post';
      events: number;
      /** Events that were posted before and arrive again. */
      again: number;
      how: 'once' | 'reversed' | 'twice' | 'rolledBack';
      /** In parallel with the posting. */
      credit: boolean;
    }
  | { do: 'credit'; account: number; amount: number; reference: number }
  | { do: 'refund'; request: number; usd: number; diem: number; whole: boolean; reference: number }
  | { do: 'limit'; key: number; limit: Limit | null }
  | { do: 'stake'; account: number; tokens: number }
  | {
      do: 'midnight';
      /** Succeeds, is rolled back, or the process dies after the commit. */
      how: 'works' | 'fails' | 'dies';
      /** Requests that arrive meanwhile. */
      asks: number;
    }
  | { do: 'crash'; asks: number }
  /** The end: every request is over and posted, and then every lease ends. */
  | { do: 'close' | 'closed' };

export type Step = Act & {
  /** Which messages about postings reach the hold book after it. */
  readonly deliver: 'all' | 'none' | 'last' | 'reversed' | 'twice';
  /** The account to check after it. */
  readonly look: number | null;
  /** From here on the database reads but does not respond, until `databaseResponds`. */
  readonly slow: boolean;
};

/** The start of a history, and its steps. */
export interface Plan {
  /** Nano-dollars. */
  readonly unit: string;
  readonly start: string;
  /** Accounts that the hold book keeps in memory. */
  readonly maxAccounts: number;
  readonly usd: readonly number[];
  readonly tokens: readonly number[];
  readonly limits: readonly (Limit | null)[];
  readonly steps: readonly Step[];
}

/** A seeded pseudo-random generator. */
class Dice {
  constructor(private state: number) {}

  below(most: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * most);
  }

  percent(chance: number): boolean {
    return this.below(100) < chance;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  many<Item>(count: number, item: () => Item): Item[] {
    return Array.from({ length: count }, item);
  }
}

const UNITS = ['1', '7', '1000000007', '1000000000000000'];
const STARTS = ['2026-03-29T20:00:00.000Z', '2026-03-31T10:30:00.000Z', '2026-04-15T00:00:00.000Z'];
const MOST_STEPS = 36;
/** Every hundredth history begins with a charge that can't be paid, which is rare by chance. */
const SHORT_EVERY = 100;

/** Generates the history with this number. */
export function planOf(seed: number, number: number): Plan {
  const plan = randomPlan(seed, number);
  if (number % SHORT_EVERY > 0) return plan;
  const [usd, tokens, limits] = [
    [60, 60],
    [0, 0],
    [null, null, null, null],
  ];
  return { ...plan, maxAccounts: 4, usd, tokens, limits, steps: [...SHORT, ...plan.steps] };
}

const certain = (act: Act): Step => ({ ...act, deliver: 'all', look: 0, slow: false });
const holdMost = certain({ do: 'hold', keys: [0], amount: 50 });
const settleFirst = certain({
  do: 'settle',
  request: 0,
  usd: 100,
  diem: 0,
  beyond: 0,
  lines: 1,
  log: 'works',
});
/** The lease of a hold ends before it is settled, so its money is held for another request too. */
const SHORT: readonly Step[] = [
  holdMost,
  certain({ do: 'wait', minutes: 8 * 60 + 1 }),
  holdMost,
  settleFirst,
  settleFirst,
  certain({ do: 'post', events: 5, again: 0, how: 'once', credit: false }),
];

function randomPlan(seed: number, number: number): Plan {
  const dice = new Dice(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
  dice.below(2);
  const keys = ACCOUNTS * KEYS;
  return {
    unit: dice.pick(UNITS),
    start: dice.pick(STARTS),
    maxAccounts: dice.pick([1, 4, 4, 4]),
    usd: dice.many(ACCOUNTS, () => dice.below(160)),
    tokens: dice.many(ACCOUNTS, () => (dice.percent(60) ? dice.below(60) : 0)),
    limits: dice.many(keys, () => (dice.percent(80) ? limit(dice) : null)),
    steps: steps(dice),
  };
}

function steps(dice: Dice): Step[] {
  const made: Step[] = [];
  let isSlow = false;
  for (let left = 6 + dice.below(MOST_STEPS - 5); left > 0; left -= 1) {
    const next = step(dice, isSlow && dice.percent(70) ? MEANWHILE : MENU);
    isSlow = (isSlow || next.slow) && next.do !== 'databaseResponds' && next.do !== 'midnight';
    made.push(next);
  }
  return made;
}

function step(dice: Dice, menu: readonly ((dice: Dice) => Act)[]): Step {
  const slow = dice.percent(4);
  // A key's spending is read again after a credit, so that a read is under way while the database is slow.
  const made = slow && dice.percent(60) ? credit(dice) : dice.pick(menu)(dice);
  const deliver = dice.percent(60)
    ? 'all'
    : dice.pick(['none', 'none', 'last', 'reversed', 'twice'] as const);
  return { ...made, deliver, look: dice.percent(60) ? dice.below(ACCOUNTS) : null, slow };
}

function limit(dice: Dice): Limit {
  const which = dice.below(3);
  return {
    period: dice.pick(LIMIT_PERIODS),
    ...(which !== 0 && { usd: dice.below(120) }),
    ...(which !== 1 && { diem: dice.below(60) }),
  };
}

function hold(dice: Dice): Act {
  const amount = dice.below(50);
  const mode = dice.below(10);
  return {
    do: 'hold',
    keys: dice.many(dice.percent(20) ? 2 + dice.below(3) : 1, () => dice.below(ACCOUNTS * KEYS)),
    amount,
    ...(mode < 3 && { atLeast: dice.below(amount + 1) }),
    ...(mode > 6 && { preferred: dice.below(40) }),
  };
}

function extend(dice: Dice): Act {
  const more = dice.below(40);
  const atLeast = dice.percent(40) ? { atLeast: dice.below(more + 1) } : {};
  return { do: 'extend', request: dice.below(40), more, ...atLeast, again: dice.percent(15) };
}

function settle(dice: Dice): Act {
  const part = (): number => (dice.percent(30) ? 100 : dice.below(101));
  return {
    do: 'settle',
    request: dice.below(40),
    usd: part(),
    diem: part(),
    beyond: dice.percent(15) ? dice.below(20) : 0,
    lines: dice.below(4),
    log: dice.percent(60) ? 'works' : dice.pick(['later', 'later', 'refuses', 'loses'] as const),
  };
}

const post = (dice: Dice): Act => ({
  do: 'post',
  events: 1 + dice.below(5),
  again: dice.percent(40) ? dice.below(4) : 0,
  how: dice.pick(['once', 'once', 'reversed', 'twice', 'rolledBack'] as const),
  credit: dice.percent(10),
});

const about =
  (name: 'holdAgain' | 'logAnswers' | 'settleAgain' | 'release' | 'releaseLate') =>
  (dice: Dice): Act => ({
    do: name,
    request: dice.below(40),
  });

const wait = (dice: Dice): Act => ({ do: 'wait', minutes: dice.below(7 * 60) });
const longWait = (dice: Dice): Act => ({ do: 'wait', minutes: 180 + dice.below(4 * 60) });
const credit = (dice: Dice): Act => ({
  do: 'credit',
  account: dice.below(ACCOUNTS),
  amount: 1 + dice.below(80),
  reference: dice.below(4),
});
const databaseResponds = (): Act => ({ do: 'databaseResponds' });

/** Typical steps while the database does not respond. */
const MEANWHILE: readonly ((dice: Dice) => Act)[] = [
  hold,
  hold,
  settle,
  settle,
  settle,
  longWait,
  longWait,
  post,
  post,
  post,
  databaseResponds,
];

/** Steps with their weights. */
const MENU: readonly ((dice: Dice) => Act)[] = (
  [
    [20, hold],
    [8, extend],
    [15, settle],
    [5, about('logAnswers')],
    [2, about('holdAgain')],
    [2, about('settleAgain')],
    [5, about('release')],
    [2, about('releaseLate')],
    [3, () => ({ do: 'renew' })],
    [4, databaseResponds],
    [8, wait],
    [1, (dice) => ({ do: 'skip', days: 1 + dice.below(20) })],
    [13, post],
    [3, credit],
    [
      3,
      (dice) => ({
        do: 'refund',
        request: dice.below(40),
        usd: dice.below(120),
        diem: dice.below(120),
        whole: dice.percent(40),
        reference: dice.below(5),
      }),
    ],
    [
      2,
      (dice) => ({
        do: 'limit',
        key: dice.below(ACCOUNTS * KEYS),
        limit: dice.percent(80) ? limit(dice) : null,
      }),
    ],
    [1, (dice) => ({ do: 'stake', account: dice.below(ACCOUNTS), tokens: dice.below(60) })],
    [
      3,
      (dice) => ({
        do: 'midnight',
        how: dice.pick(['works', 'works', 'works', 'fails', 'dies'] as const),
        asks: dice.below(3),
      }),
    ],
    [2, (dice) => ({ do: 'crash', asks: dice.below(3) })],
  ] satisfies readonly (readonly [number, (dice: Dice) => Act])[]
).flatMap(([weight, make]) => Array.from({ length: weight }, () => make));

/** The final steps of every history. */
export const ENDING: readonly Step[] = (['databaseResponds', 'close', 'closed'] as const).map((last) => ({
  do: last,
  deliver: 'all',
  look: 0,
  slow: false,
}));

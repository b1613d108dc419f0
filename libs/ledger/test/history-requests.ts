import assert from 'node:assert/strict';
import { type Balances, totalNano } from '@svc/contracts/money';
import type { Charge } from '@svc/contracts/messages';
import type { Hold, HoldRequest, SpendingLimit } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { BooksModel } from './history-books.js';
import { type HistoryTime, timeOf } from './history-holds.js';
import { NONE } from './history-money.js';
import type { HistoryLog, HistoryProcess } from './history-process.js';
import type { Step } from './history-steps.js';

/** A request from its caller's view. */
interface Request {
  readonly holdRequest: HoldRequest;
  hold: Hold;
  /** The hold before it last grew. */
  earlier: Hold;
  state: 'live' | 'busy' | 'recorded' | 'settled' | 'over';
  charge?: Charge;
  recordedAtMs: number;
  isAnswered: boolean;
}

/** The context of the requests. */
export interface Scene {
  readonly books: BooksModel;
  readonly time: HistoryTime;
  readonly log: HistoryLog;
  /** The current process. */
  readonly process: HistoryProcess;
  nano(units: number): bigint;
  /** Waits for database work before the round continues. Its failure fails the history. */
  write(work: Promise<unknown>): void;
  /** A failure of this work fails the history. */
  watch(work: Promise<unknown> | undefined): void;
}

type StepOf<Name extends Step['do']> = Extract<Step, { do: Name }>;

const REQUEST_STEPS = [
  'holdAgain',
  'extend',
  'settle',
  'logAnswers',
  'settleAgain',
  'release',
  'releaseLate',
] as const;

/** The steps of a request's caller. */
type RequestStep = StepOf<(typeof REQUEST_STEPS)[number]>;

export const isRequestStep = (step: Step): step is RequestStep =>
  REQUEST_STEPS.some((each) => each === step.do);

interface RequestingKey {
  readonly accountId: string;
  readonly keyId: string;
  readonly keyLimit: SpendingLimit | undefined;
}

/** The requests of a history. Each belongs to one caller, so its steps run one after another. */
export class HistoryRequests {
  private requests: Request[] = [];
  private count = 0;

  constructor(
    private readonly scene: Scene,
    private readonly run: string,
  ) {}

  /** Whether any settle is under way. */
  get isSettling(): boolean {
    return this.requests.some(({ state, isAnswered }) => state === 'recorded' && isAnswered);
  }

  /** A process died, and with it every unsettled request. What is recorded stays recorded. */
  processDied(): void {
    this.requests = this.requests.filter(({ state }) => state === 'settled' || state === 'recorded');
    for (const request of this.requests) Object.assign(request, { state: 'settled', isAnswered: false });
  }

  charge(at: number): Charge | undefined {
    return pick(
      this.requests.filter(({ charge }) => charge !== undefined),
      at,
    )?.charge;
  }

  ask(
    { accountId, keyId, keyLimit }: RequestingKey,
    { amount, atLeast, preferred }: { amount: number; atLeast?: number; preferred?: number },
  ): void {
    const holdRequest: HoldRequest = {
      requestId: `${this.run}-${(this.count += 1)}`,
      accountId,
      keyId,
      amountNano: this.scene.nano(amount),
      ...(atLeast !== undefined && { atLeastNano: this.scene.nano(atLeast) }),
      ...(preferred !== undefined && { preferredNano: this.scene.nano(preferred) }),
      ...(keyLimit && { keyLimit }),
    };
    const none: Hold = { ...holdRequest, amount: NONE, before: NONE };
    const request: Request = {
      holdRequest,
      hold: none,
      earlier: none,
      state: 'over',
      recordedAtMs: 0,
      isAnswered: false,
    };
    this.requests.push(request);
    this.grow(request, () => this.scene.process.ledger.hold(holdRequest));
  }

  act(step: RequestStep): void {
    const { ledger } = this.scene.process;
    switch (step.do) {
      case 'holdAgain':
        this.grow(this.find('live', step), ({ holdRequest }) => ledger.hold(holdRequest));
        return;
      case 'extend':
        this.extend(step);
        return;
      case 'settle':
        this.settle(step);
        return;
      case 'logAnswers':
        this.logAnswers(this.find('recorded', step));
        return;
      case 'settleAgain':
        this.settleAgain(this.find('settled', step));
        return;
      case 'release':
        this.release(this.find('live', step));
        return;
      case 'releaseLate':
        this.release(this.find('settled', step));
        return;
    }
  }

  /** Responds to requests that would have waited longer than this. */
  logAnswersBefore(timeMs: number): void {
    for (const request of this.requests)
      if (request.state === 'recorded' && request.recordedAtMs < timeMs) this.logAnswers(request);
  }

  releaseAll(): void {
    for (const request of this.requests) if (request.state === 'live') this.release(request);
  }

  private find(state: Request['state'], { request }: { readonly request: number }): Request | undefined {
    return pick(
      this.requests.filter((each) => each.state === state && !each.isAnswered),
      request,
    );
  }

  /** Takes or extends a hold. A refusal leaves the request unchanged. */
  private grow(request: Request | undefined, ask: (request: Request) => Hold | Promise<Hold>): void {
    if (!request) return;
    const { state } = request;
    request.state = 'busy';
    const { process } = this.scene;
    const ended = (hold?: Hold): void => {
      if (process !== this.scene.process) return;
      request.state = hold ? 'live' : state;
      if (!hold) return;
      request.earlier = request.hold;
      request.hold = hold;
    };
    this.scene.watch(
      Promise.resolve(ask(request)).then(ended, (error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        ended();
      }),
    );
  }

  private extend(step: StepOf<'extend'>): void {
    const extension = {
      moreNano: this.scene.nano(step.more),
      ...(step.atLeast !== undefined && { atLeastNano: this.scene.nano(step.atLeast) }),
    };
    this.grow(this.find('live', step), ({ hold, earlier }) =>
      this.scene.process.ledger.extend(step.again ? earlier : hold, extension),
    );
  }

  private settle(step: StepOf<'settle'>): void {
    const request = this.find('live', step);
    if (!request) return;
    const { scene } = this;
    const charge = chargeOf(request.hold, {
      ...step,
      beyondNano: scene.nano(step.beyond),
      at: timeOf(scene.time),
    });
    const { requestId, accountId } = charge;
    Object.assign(request, { state: 'recorded', charge, recordedAtMs: scene.time.nowMs });
    request.isAnswered = step.log !== 'later';
    scene.books.record(charge);
    if (!scene.process.model.holds(requestId)) scene.books.account(accountId).isLate = true;
    scene.log.mode = step.log;
    const settled = scene.process.ledger.settle(request.hold, charge).then(() => {
      request.state = 'settled';
      request.isAnswered = false;
      if (step.log === 'refuses' || step.log === 'loses') scene.books.markPosted(requestId);
    });
    if (step.log === 'refuses' || step.log === 'loses') scene.write(settled);
    else scene.watch(settled);
  }

  private settleAgain(request: Request | undefined): void {
    if (!request) return;
    assert(request.charge, 'what is settled has a charge');
    this.scene.watch(this.scene.process.ledger.settle(request.hold, request.charge));
  }

  private release(request: Request | undefined): void {
    if (!request) return;
    if (request.state === 'live') request.state = 'over';
    this.scene.watch(this.scene.process.ledger.release(request.hold));
  }

  private logAnswers(request: Request | undefined): void {
    if (!request) return;
    request.isAnswered = true;
    this.scene.log.response(request.hold.requestId);
  }
}

function pick<Item>(items: readonly Item[], at: number): Item | undefined {
  return items[at % Math.max(1, items.length)];
}

interface Costs {
  /** Percent of the hold. */
  readonly usd: number;
  readonly diem: number;
  readonly beyondNano: bigint;
  readonly lines: number;
  readonly at: string;
}

function chargeOf(
  { requestId, accountId, keyId, amount }: Hold,
  { usd, diem, beyondNano, lines, at }: Costs,
): Charge {
  const cost: Balances = {
    usdNano: (amount.usdNano * BigInt(usd)) / 100n,
    diemNano: (amount.diemNano * BigInt(diem)) / 100n,
  };
  const all = totalNano(cost) + beyondNano;
  const count = all > 0n ? Math.max(1, lines) : lines;
  const part = count > 0 ? all / BigInt(count) : 0n;
  const first = all - part * BigInt(Math.max(0, count - 1));
  return {
    requestId,
    accountId,
    keyId,
    model: 'model',
    backend: 'http://127.0.0.1:4000/v1',
    at,
    usage: { promptTokens: 9, completionTokens: 5, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    lines: Array.from({ length: count }, (_, index) => ({
      sku: index === 1 ? 'output' : 'input',
      unit: 'token',
      units: index + 3,
      priceNanoPerMillion: 1n,
      amountNano: index === 0 ? first : part,
    })),
    cost,
    writeOffNano: beyondNano,
    durationMs: 5,
  };
}

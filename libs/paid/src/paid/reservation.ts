import {
  type Admission,
  type AdmitRequest,
  type Amounts,
  type Caller,
  type Hold,
  LIMIT_UNITS,
  type Ledger,
  type Limiter,
} from '@svc/contracts/ports';
import { type Balances, NO_MONEY, totalNano } from '@svc/contracts/money';
import type { Charge } from '@svc/contracts/messages';
import { PROVISIONAL_MS, Problem, type ProblemCode } from '@svc/contracts/problems';
import { type Logger, type Retries, retrying } from '@svc/runtime';
import { traced } from '@svc/telemetry';
import type { BackgroundWork } from '../http/background-work.js';
import { type HeaderValues, limitHeaders, walletHeaders } from '../http/header-values.js';
import { withReturned } from '../limits/limit-gate.js';
import { chargeOf, sumNano } from './charge.js';
import { refusedCost, withinCost } from './request-cost.js';
import type { Repeat } from '../http/repeat.js';
import type { Delivery } from './paid-operation.js';

/** What all reservations use. */
export interface Neighbours {
  readonly limiter: Limiter;
  readonly ledger: Ledger;
  readonly background: BackgroundWork;
  readonly log: Logger;
}

interface AdmittedOperation {
  /** The operation's name in charges. */
  readonly name: string;
  readonly caller: Caller;
  readonly request: AdmitRequest;
  readonly limits: Admission;
  /** Set for a request with a key, which may have been charged before. */
  readonly repeat?: Repeat | undefined;
}

/** What the account paid. */
export interface PaidCost {
  readonly cost: Balances;
  readonly headers: HeaderValues;
}

/** What an operation without a result takes from its limits, in addition to being counted. */
const NOTHING: Amounts = Object.fromEntries(
  LIMIT_UNITS.filter((unit) => unit !== 'requests').map((unit) => [unit, 0]),
);

/** The limits and money reserved for an admitted operation, until it is settled or released. */
export class Reservation {
  /** Whether the money is held, and whether the limits count an estimate of the operation. */
  private isHeld = true;
  private isCounted = true;
  private lastRefusal: Problem | undefined;

  constructor(
    private readonly neighbours: Neighbours,
    private admitted: AdmittedOperation,
    private hold: Hold,
  ) {}

  get heldNano(): bigint {
    return totalNano(this.hold.amount);
  }

  /** What the account could spend when the operation began. */
  get beforeNano(): bigint {
    return totalNano(this.hold.before);
  }

  /** The reason why money was last refused. */
  get refusal(): Problem | undefined {
    return this.lastRefusal;
  }

  /** Extends the hold to an amount, or as far as the account can pay if that is at least `atLeastNano`. */
  async holdFor(wanted: { amountNano: bigint; atLeastNano: bigint }): Promise<void> {
    const held = this.heldNano;
    const refusal = refusedCost(wanted, this.admitted.caller);
    if (refusal) {
      this.lastRefusal = refusal;
      return;
    }
    const moreNano = withinCost(wanted, this.admitted.caller).amountNano - held;
    if (moreNano <= 0n) return;
    const atLeastNano = wanted.atLeastNano > held ? wanted.atLeastNano - held : 0n;
    const extend = (): Promise<Hold> => this.neighbours.ledger.extend(this.hold, { moreNano, atLeastNano });
    try {
      this.hold = await traced('extend hold', () => retrying(extend, UNTIL_FINAL));
    } catch (error) {
      if (!isShortOfMoney(error)) throw error;
      this.lastRefusal = error;
    }
  }

  /**
   * Charges what was delivered. Once resolved, the charge is durable. What the hold cannot cover is written
   * off, since it was delivered.
   */
  settle(delivery: Delivery & { durationMs: number }): Promise<PaidCost> {
    const total = sumNano(delivery.lines);
    const isUsual = delivery.lines.length > 0 && total <= this.heldNano && !this.admitted.repeat;
    return isUsual
      ? this.charge(chargeOf(this.hold, delivery, this.admitted))
      : this.settleUnusual(delivery, total);
  }

  /** A delivery that costs nothing, or more than is held, or whose request may have been charged before. */
  private async settleUnusual(delivery: Delivery & { durationMs: number }, total: bigint): Promise<PaidCost> {
    if (delivery.lines.length === 0) {
      await this.release();
      return this.settled(NO_MONEY);
    }
    if (total > this.heldNano) await this.growTo(total);
    const { repeat } = this.admitted;
    const charge = chargeOf(this.hold, delivery, this.admitted);
    return this.charge(repeat ? await this.once(charge, repeat) : charge);
  }

  private charge(charge: Charge): Promise<PaidCost> {
    this.isHeld = false;
    return traced('settle', () => this.neighbours.ledger.settle(this.hold, charge)).then(
      () => {
        const { promptTokens, completionTokens } = charge.usage;
        const corrected = this.correctLimits({ tokens: promptTokens + completionTokens });
        return corrected ? corrected.then(() => this.settled(charge.cost)) : this.settled(charge.cost);
      },
      (error: unknown) => {
        if (isUnserved(error)) this.admitted.repeat?.refused();
        this.logError(error, 'a response could not be charged');
        throw error;
      },
    );
  }

  /**
   * Releases the hold and the amounts counted against the limits, but not the counted request. Does nothing
   * once settled.
   */
  release(): Promise<void> | undefined {
    return this.isHeld || this.isCounted ? this.releaseAll() : undefined;
  }

  private async releaseAll(): Promise<void> {
    if (this.isHeld) await this.releaseHold();
    if (this.isCounted) await this.correctLimits(NOTHING);
  }

  /**
   * Releases everything including the counted request, because this service could not serve it. Returns the
   * headers about the limits once they are updated; none once settled.
   */
  async cancel(): Promise<HeaderValues> {
    if (!this.isCounted) return {};
    const { request, limits } = this.admitted;
    await Promise.all([this.isHeld ? this.releaseHold() : undefined, this.uncount()]);
    return limitHeaders(withReturned(limits, request));
  }

  /** Gives back what the limits count. The money stays held. */
  async uncount(): Promise<void> {
    if (!this.isCounted) return;
    const { request, limits } = this.admitted;
    this.isCounted = false;
    await traced('uncount', () => this.neighbours.limiter.release(request, limits));
  }

  /** From now on it is for something else, for which the limits have admitted it. */
  countAs(admitted: Pick<AdmittedOperation, 'name' | 'request' | 'limits'>): void {
    this.admitted = { ...this.admitted, ...admitted };
    this.isCounted = true;
  }

  /** The charge to make, which is that of an earlier attempt at the same request. */
  private async once(charge: Charge, repeat: Repeat): Promise<Charge> {
    const stored = await repeat.charged(charge);
    if (!stored) return charge;
    const total = totalNano(stored.cost);
    if (total > this.heldNano) await this.growTo(total);
    return stored;
  }

  private settled(cost: Balances): PaidCost {
    return { cost, headers: walletHeaders(this.admitted.caller, this.hold.before, cost) };
  }

  /** A failure is logged; the hold then expires. */
  private async releaseHold(): Promise<void> {
    this.isHeld = false;
    try {
      await traced('release hold', () => this.neighbours.ledger.release(this.hold));
    } catch (error) {
      this.logError(error, 'a hold could not be released and will expire');
    }
  }

  /** Runs after the response, which does not wait for it. */
  private correctLimits(used: Amounts): Promise<void> | undefined {
    const { request, limits } = this.admitted;
    const { limiter, background } = this.neighbours;
    this.isCounted = false;
    return background.run(
      'correcting limits',
      request.requestId,
      traced('correct limits', () => limiter.settle(request, limits, used)),
    );
  }

  /** Extends the hold to the amount of a charge as far as possible. A failure must not prevent the charge. */
  private async growTo(amountNano: bigint): Promise<void> {
    try {
      await this.holdFor({ amountNano, atLeastNano: 0n });
    } catch (error) {
      this.logError(error, 'a hold could not be extended to the amount of its charge');
    }
  }

  private logError(error: unknown, message: string): void {
    this.neighbours.log.error({ err: error, requestId: this.hold.requestId }, message);
  }
}

/** Money that another request may give back is worth a short wait: the response would otherwise be cut. */
const UNTIL_FINAL: Retries = {
  firstMs: 10,
  lastMs: 160,
  deadlineMs: 2 * PROVISIONAL_MS,
  isFinal: (error) => !(error instanceof Problem && error.isProvisional),
};

/** The account lacks money, or its key's spending limit is reached. */
const MONEY_CODES: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'INSUFFICIENT_BALANCE',
  'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
  'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
  'END_USER_SPEND_LIMIT_EXCEEDED',
]);

/** Whether a request failed with a 503: it was not the caller's fault, and nothing was delivered. */
export function isUnserved(error: unknown): boolean {
  return error instanceof Problem && error.status === 503;
}

/** Whether a request was refused for lack of money. */
export function isShortOfMoney(error: unknown): error is Problem {
  return error instanceof Problem && MONEY_CODES.has(error.code);
}

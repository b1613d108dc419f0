import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type Caller, type Hold, type HoldRequest, Ledger, Limiter } from '@svc/contracts/ports';
import { type Balances, WALLET_FLOOR_NANO, formatUsd, totalNano } from '@svc/contracts/money';
import { Problem } from '@svc/contracts/problems';
import { RootLogger, whileConnected, type Incoming, type Outgoing } from '@svc/runtime';
import { BackgroundWork } from '../http/background-work.js';
import {
  type HeaderValues,
  addBalance,
  limitHeaders,
  servedBy,
  walletHeaders,
} from '../http/header-values.js';
import { LimitGate } from '../limits/limit-gate.js';
import { RepeatedRequests } from '../repeats/repeated-requests.js';
import { PaymentDemands } from '@svc/identity/wallets';
import { type ClaimOutcome, Claims, FailedCall, type Needs, resultOf } from './claims.js';
import { ModelSale } from './model-sale.js';
import type { PaidOperation, WholeOperation } from './paid-operation.js';
import { refusedCost, withinCost } from './request-cost.js';
import { type Neighbours, Reservation, isUnserved } from './reservation.js';

/** The request of an operation. */
interface Entrant {
  readonly requestId: string;
  readonly caller: Caller;
}

/** An operation that claims what it needs. */
interface Claiming extends Needs {
  /** Its name in charges. */
  readonly name: string;
  readonly caller: Caller;
}

/** A reservation or a refusal, with the headers about limits and balances. */
export type OperationStart =
  | { readonly headers: HeaderValues; readonly reservation: Reservation }
  | { readonly headers: HeaderValues; readonly refusal: unknown };

export interface PaidResult<Result> {
  readonly result: Result;
  readonly cost: Balances;
}

/** The HTTP request of an operation and its response. */
export interface HttpPair {
  readonly request: Incoming;
  readonly reply: Outgoing;
}

/**
 * Everything that costs money goes through here. An operation is admitted and held for before it begins, and
 * charged durably before its response ends.
 */
@Injectable()
export class PaidOperations {
  private readonly claims: Claims;
  private readonly neighbours: Neighbours;

  constructor(
    private readonly limits: LimitGate,
    private readonly limiter: Limiter,
    ledger: Ledger,
    private readonly background: BackgroundWork,
    private readonly demands: PaymentDemands,
    private readonly repeats: RepeatedRequests,
    logger: RootLogger,
  ) {
    this.claims = new Claims(limiter, ledger, logger);
    this.neighbours = { limiter, ledger, background, log: logger.log };
  }

  /**
   * Checks limits and holds money; nothing of a refused operation is kept. Refuses: RATE_LIMIT_EXCEEDED,
   * INSUFFICIENT_BALANCE, the codes of a key's limit, UNAVAILABLE. Throws TOO_MANY_TOKENS_PER_MINUTE. The
   * caller must settle, cancel or release the reservation.
   */
  begin(operation: PaidOperation, entrant: Entrant): OperationStart | Promise<OperationStart> {
    const { sale, amounts } = operation;
    const { caller } = entrant;
    const refusal = refusedCost(operation.hold, caller);
    if (refusal) return { headers: {}, refusal };
    const request = this.limits.request(entrant, sale, amounts);
    const claiming = { name: sale.name, caller, request, hold: holdRequest(operation, entrant) };
    const claim = this.claims.claim(claiming);
    return claim instanceof Promise ? this.begunLater(claim, claiming) : this.begun(claim, claiming);
  }

  private begunLater(claim: Promise<ClaimOutcome>, claiming: Claiming): Promise<OperationStart> {
    return claim.then((later) => this.begun(later, claiming));
  }

  /**
   * Counts the request of a reservation for another sale, which is charged from then on. Returns the headers
   * about the limits; undefined if these are reached, and the request is then counted nowhere.
   */
  async move(
    reservation: Reservation,
    { sale, amounts }: Pick<PaidOperation, 'sale' | 'amounts'>,
    entrant: Entrant,
  ): Promise<HeaderValues | undefined> {
    await reservation.uncount();
    if (this.limits.isExcess(sale.limits, amounts)) return undefined;
    const request = this.limits.request(entrant, sale, amounts);
    const admission = await this.limiter.admit(request);
    if (!admission.admitted) {
      this.limits.refusal(entrant.caller, request, admission);
      return undefined;
    }
    reservation.countAs({ name: sale.name, request, limits: admission });
    return limitHeaders(admission);
  }

  private begun(claim: ClaimOutcome, claiming: Claiming): OperationStart | Promise<OperationStart> {
    const admission = resultOf(claim.admission);
    const hold = resultOf(claim.held);
    const headers = admission ? limitHeaders(admission) : {};
    if (hold) addBalance(headers, hold.before);
    if (claim.refusal) return { headers, refusal: this.refusalOf(claim, claiming) };
    assert(admission && hold, 'a granted claim has both');
    const { name, caller, request } = claiming;
    const admitted = {
      name,
      caller,
      request,
      limits: admission,
      repeat: this.repeats.find(request.requestId),
    };
    const reservation = new Reservation(this.neighbours, admitted, hold);
    if (isBelowFloor(caller, hold)) return refusedBelowFloor(reservation, headers);
    Object.assign(headers, walletHeaders(caller, hold.before, hold.amount));
    return { headers, reservation };
  }

  private refusalOf({ refusal, admission, held }: ClaimOutcome, { caller, request }: Claiming): unknown {
    if (refusal?.by === 'money' && held instanceof FailedCall) return held.reason;
    if (admission instanceof FailedCall) return admission.reason;
    assert(admission, 'the limiter has refused the claim');
    return this.limits.refusal(caller, request, admission);
  }

  /**
   * Performs an operation that delivers its whole result at once, and sets the headers about limits and
   * balances, even on a refusal. A client that disconnects aborts the operation, unless it outlasts the
   * client or may be repeated by its key; if it has a result by then, that is charged.
   * Refuses: as `begin`, PAYMENT_REQUIRED for wallets, and the refusals of the operation.
   */
  async run<Result>(operation: WholeOperation<Result>, pair: HttpPair): Promise<PaidResult<Result>> {
    const { caller, record } = pair.request;
    assert(caller, 'the route requires a key or a wallet');
    const performed = (signal: AbortSignal): Promise<PaidResult<Result>> =>
      this.performed(operation, pair, { caller, signal });
    const work = this.background.begin(record);
    try {
      return await (operation.outlastsClient || pair.request.repeat
        ? performed(NEVER)
        : whileConnected(pair.request, performed));
    } catch (error) {
      throw await this.demands.refusalFor(caller, error, pair);
    } finally {
      work.end();
    }
  }

  private async performed<Result>(
    operation: WholeOperation<Result>,
    { request, reply }: HttpPair,
    { caller, signal }: { caller: Caller; signal: AbortSignal },
  ): Promise<PaidResult<Result>> {
    const startedMs = performance.now();
    const { sale } = operation;
    if (sale instanceof ModelSale) {
      request.record.model = sale.name;
      reply.headers(sale.headers);
    }
    const begun = await this.begin(operation, { requestId: request.id, caller });
    reply.headers(begun.headers);
    if ('refusal' in begun) throw begun.refusal;
    const { reservation } = begun;
    try {
      signal.throwIfAborted();
      const { result, retries, ...delivery } = await operation.perform(caller, signal);
      const durationMs = performance.now() - startedMs;
      const { cost, headers } = await reservation.settle({ ...delivery, durationMs });
      reply.headers({ ...headers, ...(sale instanceof ModelSale && servedBy(delivery.backend, retries)) });
      Object.assign(request.record, {
        backend: delivery.backend,
        costUsd: formatUsd(cost.usdNano),
        costDiem: formatUsd(cost.diemNano),
      });
      return { result, cost };
    } catch (error) {
      if (isUnserved(error)) reply.headers(await reservation.cancel());
      throw error;
    } finally {
      await reservation.release();
    }
  }
}

const NEVER = new AbortController().signal;

function holdRequest({ hold }: PaidOperation, { requestId, caller }: Entrant): HoldRequest {
  const { accountId, keyId, keyLimit, endUser, userSpending } = caller;
  const { amountNano, atLeastNano, preferredNano } = withinCost(hold, caller);
  const userLimit = endUser !== undefined && userSpending ? { endUser, ...userSpending } : undefined;
  return { requestId, accountId, keyId, amountNano, atLeastNano, preferredNano, keyLimit, userLimit };
}

/** Wallets need a minimum balance to be admitted. */
const isBelowFloor = ({ wallet }: Caller, { before }: Hold): boolean =>
  wallet !== undefined && totalNano(before) < WALLET_FLOOR_NANO;

async function refusedBelowFloor(reservation: Reservation, headers: HeaderValues): Promise<OperationStart> {
  const updated = await reservation.cancel();
  return { headers: { ...headers, ...updated }, refusal: new Problem('INSUFFICIENT_BALANCE') };
}

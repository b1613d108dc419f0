import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import {
  type AdmitRequest,
  type Caller,
  type Hold,
  type HoldRequest,
  Ledger,
  Limiter,
} from '@svc/contracts/ports';
import { type Balances, WALLET_FLOOR_NANO, formatUsd, totalNano } from '@svc/contracts/money';
import { Problem } from '@svc/contracts/problems';
import { RootLogger, whileConnected, type Incoming, type Outgoing } from '@svc/runtime';
import { BackgroundWork } from '../http/background-work.js';
import {
  type HeaderValues,
  balanceHeaders,
  limitHeaders,
  servedBy,
  walletHeaders,
} from '../http/header-values.js';
import { LimitGate } from '../limits/limit-gate.js';
import { RepeatedRequests } from '../repeats/repeated-requests.js';
import { PaymentDemands } from '@svc/identity/wallets';
import { leftOf } from './charge.js';
import { type ClaimOutcome, Claims } from './claims.js';
import { ModelSale } from './model-sale.js';
import type { PaidOperation, WholeOperation } from './paid-operation.js';
import { refusedCost, withinCost } from './request-cost.js';
import { Reservation, isUnserved } from './reservation.js';

/** The request of an operation. */
interface Entrant {
  readonly requestId: string;
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

  constructor(
    private readonly limits: LimitGate,
    private readonly limiter: Limiter,
    private readonly ledger: Ledger,
    private readonly background: BackgroundWork,
    private readonly demands: PaymentDemands,
    private readonly repeats: RepeatedRequests,
    private readonly logger: RootLogger,
  ) {
    this.claims = new Claims(limiter, ledger, logger);
  }

  /**
   * Checks limits and holds money; nothing of a refused operation is kept. Refuses: RATE_LIMIT_EXCEEDED,
   * INSUFFICIENT_BALANCE, the codes of a key's limit, UNAVAILABLE. Throws TOO_MANY_TOKENS_PER_MINUTE. The
   * caller must settle, cancel or release the reservation.
   */
  begin(operation: PaidOperation, entrant: Entrant): OperationStart | Promise<OperationStart> {
    const { sale, amounts } = operation;
    const { resource, limits } = sale;
    const { requestId, caller } = entrant;
    const refusal = refusedCost(operation.hold, caller);
    if (refusal) return { headers: {}, refusal };
    const request = this.limits.request({ requestId, caller, resource, limits }, amounts);
    const claim = this.claims.claim({ request, hold: holdRequest(operation, entrant) });
    const claimed = { name: sale.name, caller, request };
    return claim instanceof Promise
      ? claim.then((later) => this.begun(later, claimed))
      : this.begun(claim, claimed);
  }

  /**
   * Counts the request of a reservation for another sale, which is charged from then on. Returns the headers
   * about the limits; undefined if these are reached, and the request is then counted nowhere.
   */
  async move(
    reservation: Reservation,
    { sale, amounts }: Pick<PaidOperation, 'sale' | 'amounts'>,
    { requestId, caller }: Entrant,
  ): Promise<HeaderValues | undefined> {
    const { name, resource, limits } = sale;
    await reservation.uncount();
    if (this.limits.isExcess(limits, amounts)) return undefined;
    const request = this.limits.request({ requestId, caller, resource, limits }, amounts);
    const admission = await this.limiter.admit(request);
    if (!admission.admitted) {
      this.limits.refusal(caller, request, admission);
      return undefined;
    }
    reservation.countAs({ name, request, limits: admission });
    return limitHeaders(admission);
  }

  private begun(
    claim: ClaimOutcome,
    { name, caller, request }: { name: string; caller: Caller; request: AdmitRequest },
  ): OperationStart | Promise<OperationStart> {
    const { limiter, ledger, background } = this;
    const admission = valueOf(claim.admission);
    const hold = valueOf(claim.held);
    const headers = { ...(admission && limitHeaders(admission)), ...(hold && balanceHeaders(hold.before)) };
    if (claim.refusal) return { headers, refusal: this.refusalOf(claim, { caller, request }) };
    assert(admission && hold, 'a granted claim has both');
    const reservation = new Reservation(
      { limiter, ledger, background, log: this.logger.log },
      { name, caller, request, limits: admission, repeat: this.repeats.find(request.requestId) },
      hold,
    );
    if (isBelowFloor(caller, hold))
      return reservation.cancel().then((updated) => ({
        headers: { ...headers, ...updated },
        refusal: new Problem('INSUFFICIENT_BALANCE'),
      }));
    return { headers: { ...headers, ...walletHeaders(caller, leftOf(hold, hold.amount)) }, reservation };
  }

  private refusalOf(
    { refusal, admission, held }: ClaimOutcome,
    { caller, request }: { caller: Caller; request: AdmitRequest },
  ): unknown {
    if (refusal?.by === 'money' && held?.status === 'rejected') return held.reason;
    if (admission?.status === 'rejected') return admission.reason;
    assert(admission, 'the limiter has refused the claim');
    return this.limits.refusal(caller, request, admission.value);
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

const valueOf = <Value>(result: PromiseSettledResult<Value> | undefined): Value | undefined =>
  result?.status === 'fulfilled' ? result.value : undefined;

function holdRequest({ hold }: PaidOperation, { requestId, caller }: Entrant): HoldRequest {
  const { accountId, keyId, keyLimit, endUser, userSpending } = caller;
  return {
    requestId,
    accountId,
    keyId,
    ...withinCost(hold, caller),
    ...(keyLimit && { keyLimit }),
    ...(endUser !== undefined && userSpending && { userLimit: { endUser, ...userSpending } }),
  };
}

/** Wallets need a minimum balance to be admitted. */
const isBelowFloor = ({ wallet }: Caller, { before }: Hold): boolean =>
  wallet !== undefined && totalNano(before) < WALLET_FLOOR_NANO;

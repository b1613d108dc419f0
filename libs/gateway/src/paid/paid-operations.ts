import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import {
  type AdmitRequest,
  type Balances,
  type Caller,
  type ChargeLine,
  Ledger,
  Limiter,
  NO_USAGE,
  Problem,
  type Usage,
} from '@svc/contracts';
import { RootLogger, whileAsked } from '@svc/runtime';
import { traced } from '@svc/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { balanceHeaders, limitHeaders, walletHeaders } from '../http/header-values.js';
import { BackgroundWork } from '../http/background-work.js';
import { LimitGate } from '../limits/limit-gate.js';
import { PaymentDemands } from '../wallets/payment-demands.js';
import { chargeOf, leftOf } from './charge.js';
import { isUnserved } from './reservation.js';
import { isBelowFloor } from './reservations.js';

/** An operation that costs money and delivers its whole result at once. */
export interface PaidOperation<Result> {
  /** The name in charges: the id of a model, or the path of the route. */
  readonly name: string;
  /** The limits that apply, and the name that they are counted under. */
  readonly limits: AdmitRequest['limits'];
  readonly limitedAs: string;
  /** Estimated tokens. */
  readonly tokens: number;
  /** Nano-dollars to hold; an upper bound for the charge. */
  readonly atMostNano: bigint;
  /** If this throws, nothing is charged. */
  readonly perform: (caller: Caller, signal: AbortSignal) => Promise<Performed<Result>>;
}

/** The result of an operation, and how to charge it. */
export interface Performed<Result> {
  readonly result: Result;
  /** The backend that delivered it. */
  readonly backend: string;
  readonly lines: readonly ChargeLine[];
  /** Default: no tokens. */
  readonly usage?: Usage;
}

export interface Paid<Result> {
  readonly result: Result;
  readonly cost: Balances;
}

/** The HTTP request of an operation and its response. */
export interface HttpPair {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** One run of an operation. `signal` aborts when the client disconnects. */
interface Run<Result> extends HttpPair {
  readonly operation: PaidOperation<Result>;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/**
 * Performs paid operations. Each is admitted and held for before it begins, and charged durably before it is
 * delivered.
 */
@Injectable()
export class PaidOperations {
  constructor(
    private readonly limits: LimitGate,
    private readonly limiter: Limiter,
    private readonly ledger: Ledger,
    private readonly background: BackgroundWork,
    private readonly demands: PaymentDemands,
    private readonly logger: RootLogger,
  ) {}

  /**
   * Performs an operation and sets the headers about limits and balances, even on a refusal. An operation
   * that ends after its client has disconnected costs nothing. Refuses: RATE_LIMIT_EXCEEDED,
   * TOO_MANY_TOKENS_PER_MINUTE, INSUFFICIENT_BALANCE, PAYMENT_REQUIRED for wallets, the codes of a key's
   * limit, UNAVAILABLE, and the refusals of the operation.
   */
  async run<Result>(operation: PaidOperation<Result>, pair: HttpPair): Promise<Paid<Result>> {
    const { caller } = pair.request;
    assert(caller, 'the route requires a key or a wallet');
    try {
      return await whileAsked(pair.request, (signal) =>
        this.admitted({ ...pair, operation, caller, signal }),
      );
    } catch (error) {
      throw await this.demands.refusalFor(caller, error, pair);
    }
  }

  private async admitted<Result>(run: Run<Result>): Promise<Paid<Result>> {
    const { operation, caller, reply, request: http } = run;
    const { limits: gate, limiter, background } = this;
    const entrant = { requestId: http.id, caller };
    const plan = { model: { id: operation.limitedAs }, limits: operation.limits };
    const request = gate.request({ ...entrant, plan }, operation.tokens);
    const admission = await traced('admit', () => limiter.admit(request));
    reply.headers(limitHeaders(admission));
    if (!admission.admitted) throw gate.refusal({ ...entrant, model: request.model }, admission);
    let tokens = 0;
    let isServed = true;
    try {
      const { usage, ...paid } = await this.held(run);
      tokens = usage.promptTokens + usage.completionTokens;
      return paid;
    } catch (error) {
      isServed = !isUnserved(error);
      throw error;
    } finally {
      const correction = isServed
        ? limiter.settle(request, admission, tokens)
        : limiter.release(request, admission);
      await background.run('correcting limits', http.id, correction);
    }
  }

  private async held<Result>(run: Run<Result>): Promise<Paid<Result> & { usage: Usage }> {
    const { ledger } = this;
    const { operation, caller, signal, reply, request: http } = run;
    const { accountId, keyId, keyLimit } = caller;
    const startedMs = performance.now();
    const hold = await traced('hold', () =>
      ledger.hold({
        requestId: http.id,
        accountId,
        keyId,
        amountNano: operation.atMostNano,
        ...(keyLimit && { keyLimit }),
      }),
    );
    reply.headers({ ...balanceHeaders(hold.before), ...walletHeaders(caller, leftOf(hold, hold.amount)) });
    let isSettled = false;
    try {
      if (isBelowFloor(caller, hold)) throw new Problem('INSUFFICIENT_BALANCE');
      signal.throwIfAborted();
      const performed = await operation.perform(caller, signal);
      signal.throwIfAborted();
      const { result, backend, lines, usage = NO_USAGE } = performed;
      const durationMs = performance.now() - startedMs;
      const charge = chargeOf(hold, { model: operation.name, backend, usage, lines, durationMs });
      isSettled = true;
      await traced('settle', () => ledger.settle(hold, charge));
      reply.headers(walletHeaders(caller, leftOf(hold, charge.cost)));
      return { result, cost: charge.cost, usage };
    } finally {
      if (!isSettled) await this.released(http.id, ledger.release(hold));
    }
  }

  /** A hold that cannot be released expires. */
  private async released(requestId: string, releasing: Promise<void>): Promise<void> {
    await releasing.catch((error: unknown) => {
      this.logger.log.error({ err: error, requestId }, 'a hold could not be released and will expire');
    });
  }
}

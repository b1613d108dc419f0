import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import {
  type AdmitRequest,
  type Caller,
  type Charge,
  type ChargeLine,
  type Hold,
  Problem,
  type Usage,
} from '@svc/contracts';
import { RootLogger, whileAsked } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { payFrom, purchaseLine } from '../holds/price.js';
import { Lenders, isBelowFloor } from '../holds/reservations.js';
import { isUnserved } from '../holds/reservation.js';
import { keySubject } from '../limits/failure-blocks.js';
import { PaymentDemands } from '../wallets/payment-demands.js';
import type { Offer } from './offers.js';

/** Who asks for something that is sold by itself, and where the answer goes. */
export interface Asking {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What was sold, and who delivered it. */
interface Delivered<Result> {
  readonly result: Result;
  readonly from: string;
}

type Work<Result> = (caller: Caller, signal: AbortSignal) => Promise<Delivered<Result>>;

const NO_TOKENS: Usage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** Sells one thing at a time: admitted and held for before it is done, charged durably before it is delivered. */
@Injectable()
export class Sales {
  constructor(
    private readonly lenders: Lenders,
    private readonly demands: PaymentDemands,
    private readonly logger: RootLogger,
  ) {}

  /**
   * Whatever `work` throws costs nothing, nor does what is done when the client has left. Refuses: RATE_LIMIT_EXCEEDED,
   * INSUFFICIENT_BALANCE, to wallets PAYMENT_REQUIRED, the codes of a key's limit, UNAVAILABLE.
   */
  async sell<Result>(offer: Offer, asking: Asking, work: Work<Result>): Promise<Result> {
    const { caller } = asking.request;
    assert(caller, 'the route lets nobody in without a key or a wallet');
    try {
      return await whileAsked(asking.request, (signal) =>
        this.admitted(offer, { requestId: asking.request.id, caller, signal }, work),
      );
    } catch (error) {
      throw await this.demands.toldTo(caller, error, asking);
    }
  }

  private async admitted<Result>(offer: Offer, sale: Sale, work: Work<Result>): Promise<Result> {
    const { limits: gate } = this.lenders;
    const request = admissionOf(offer, sale);
    const admission = await gate.limiter.admit(request);
    if (!admission.admitted) throw gate.refusal({ ...sale, model: request.model }, admission);
    try {
      const result = await this.held(offer, sale, work);
      await this.givenBack(sale, gate.limiter.settle(request, admission, 0));
      return result;
    } catch (error) {
      const { limiter } = gate;
      await this.givenBack(
        sale,
        isUnserved(error) ? limiter.release(request, admission) : limiter.settle(request, admission, 0),
      );
      throw error;
    }
  }

  private async held<Result>(offer: Offer, sale: Sale, work: Work<Result>): Promise<Result> {
    const { ledger } = this.lenders;
    const { requestId, caller, signal } = sale;
    const { accountId, keyId, keyLimit } = caller;
    const startedMs = performance.now();
    const amountNano = lineOf(offer, offer.priceAtMostNano).amountNano;
    const hold = await ledger.hold({
      requestId,
      accountId,
      keyId,
      amountNano,
      ...(keyLimit && { keyLimit }),
    });
    let isSettled = false;
    try {
      if (isBelowFloor(caller, hold)) throw new Problem('INSUFFICIENT_BALANCE');
      signal.throwIfAborted();
      const { result, from } = await work(caller, signal);
      signal.throwIfAborted();
      const line = lineOf(offer, offer.pricesNano.get(from) ?? offer.priceAtMostNano);
      isSettled = true;
      await ledger.settle(hold, {
        ...chargeOf(sale, hold, line),
        model: offer.path.slice(1),
        backend: from,
        durationMs: Math.round(performance.now() - startedMs),
      });
      return result;
    } finally {
      if (!isSettled) await this.givenBack(sale, ledger.release(hold));
    }
  }

  private async givenBack({ requestId }: Sale, giving: Promise<void>): Promise<void> {
    await giving.catch((error: unknown) => {
      this.logger.log.error({ err: error, requestId }, 'what a sale took could not be given back');
    });
  }
}

interface Sale {
  readonly requestId: string;
  readonly caller: Caller;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}

const lineOf = ({ sku }: Offer, priceNano: bigint): ChargeLine => purchaseLine({ sku, units: 1, priceNano });

function chargeOf(
  { requestId, caller: { accountId, keyId } }: Sale,
  { amount }: Hold,
  line: ChargeLine,
): Omit<Charge, 'model' | 'backend' | 'durationMs'> {
  const { cost, writeOffNano } = payFrom(amount, line.amountNano);
  const at = new Date().toISOString();
  return { requestId, accountId, keyId, at, usage: NO_TOKENS, lines: [line], cost, writeOffNano };
}

/** Nothing is counted in tokens. */
function admissionOf({ path, perMinute }: Offer, { requestId, caller }: Sale): AdmitRequest {
  const { accountId, keyId, concurrent } = caller;
  return {
    requestId,
    accountId,
    keyId,
    model: `endpoint:api/v1${path}`,
    subject: keySubject(keyId),
    limits: { user: { requestsPerMinute: perMinute, tokensPerMinute: Number.MAX_SAFE_INTEGER } },
    tokens: 0,
    ...(concurrent !== undefined && concurrent > 0 && { concurrent }),
  };
}

import type { Catalog } from '@svc/catalog';
import type { ChatResponse } from '@svc/contracts/inference';
import { Problem, type ProblemCode } from '@svc/contracts/problems';
import { servedBy } from '@svc/paid/http';
import type { PaidOperation, PaidOperations, Reservation } from '@svc/paid/paid';
import { inference } from '@svc/telemetry';
import { unlessFiltered } from '../output/unfiltered.js';
import type { ChatPlan } from '../request/chat-plan.js';
import { type FallbackPlans, namesFallbacks, planFallbacks } from '../request/fallback-plans.js';
import { chatOperation, holdSizes } from './chat-hold.js';
import type { ChatExchange } from './exchange.js';

/** No server of a model can take a request, or its servers have responded with 429 or 5xx. */
const FAILURES: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'MODEL_OFFLINE',
  'MODEL_AT_CAPACITY',
  'INFERENCE_FAILED',
  'REQUEST_TIMEOUT',
]);

/** A request whose model has failed, and what was reserved for it. */
interface FailedCall {
  readonly plan: ChatPlan;
  readonly error: unknown;
  readonly reservation: Reservation;
}

/**
 * The models of a request that names several, one after the other until one begins to respond. A request that
 * names one has none of this. If all fail, the client gets the error of the first.
 */
export class FallbackModels {
  private next = 1;
  private firstProblem: Problem | undefined;
  private hasBegun = false;
  /** The text of the messages, which the preparation for a model replaces. */
  private readonly messages: string;

  private constructor(
    private planned: FallbackPlans,
    private readonly exchange: ChatExchange,
    /** The most output tokens per choice to hold ahead. */
    private readonly trancheTokens: number,
  ) {
    this.messages = this.first.text.messages;
  }

  /** Undefined for a request that names no other models. Refuses as `planFallbacks`. */
  static of(exchange: ChatExchange, catalog: Catalog, trancheTokens: number): FallbackModels | undefined {
    if (!namesFallbacks(exchange)) return undefined;
    return new FallbackModels(planFallbacks(exchange, catalog), exchange, trancheTokens);
  }

  get first(): ChatPlan {
    return this.planned.plans[0];
  }

  /**
   * The operation of the first model with the hold of the dearest one, or as much of it as the account can
   * pay.
   */
  get operation(): PaidOperation {
    const first = this.operationOf(this.first);
    const operations = this.planned.plans.map((plan) => this.operationOf(plan));
    const preferred = operations.flatMap(({ hold }) => hold.preferredNano ?? []);
    return {
      ...first,
      hold: {
        ...first.hold,
        amountNano: largest(operations.map(({ hold }) => hold.amountNano)),
        ...(preferred.length > 0 && { preferredNano: largest(preferred) }),
      },
    };
  }

  /**
   * The plan for the next model, for which the request now counts. Throws the error if it is no reason to try
   * another model, and the first error if no model is left.
   */
  async after({ plan: failed, error, reservation }: FailedCall, paid: PaidOperations): Promise<ChatPlan> {
    const { requestId, caller, client, record } = this.exchange;
    const isFinal = client.signal.aborted || this.hasBegun || !(error instanceof Problem);
    if (isFinal || (!this.firstProblem && !this.isCause(error))) throw this.refused(error);
    this.firstProblem ??= error;
    for (let plan = this.nextPlan(failed, error); plan; plan = this.nextPlan(failed, error)) {
      const { sale } = plan;
      const moved = await paid.move(reservation, this.operationOf(plan), { requestId, caller });
      // The model's own limits may be reached.
      if (!moved) continue;
      Object.assign(client.headers, moved);
      record.model = sale.name;
      plan.text.messages = this.messages;
      return plan;
    }
    throw this.refused(this.firstProblem);
  }

  /** Until a model begins to respond, a stream that begins with keep-alives names none. */
  hideModel(): void {
    const { client } = this.exchange;
    for (const name of Object.keys(this.first.sale.headers)) delete client.headers[name];
  }

  /** A response, unless a content filter ends it before its first output and another model is left for it. */
  unfiltered(response: Promise<ChatResponse>): Promise<ChatResponse> {
    const { on, plans } = this.planned;
    const isWatched = on.includes('content_filter') && this.next < plans.length && this.first.choices === 1;
    return isWatched
      ? response.then((source) => unlessFiltered(source, this.exchange.idleTimeoutMs))
      : response;
  }

  /** A model has begun to respond, so it is the last. */
  begun(
    { model, sale, web, text }: ChatPlan,
    { backend, retries }: Pick<ChatResponse, 'backend' | 'retries'>,
  ): void {
    const { headers } = this.exchange.client;
    const { requested } = this.planned;
    this.hasBegun = true;
    if (model.id !== requested) inference.fallbacks.add(1, requested, model.id);
    Object.assign(headers, sale.headers, servedBy(backend, retries + this.next - 1));
    this.planned = { ...this.planned, plans: [this.first] };
    // Only a follow-up call needs the text again.
    if (web?.kind !== 'offer') text.forget();
  }

  /** An error before a model has begun to respond, in a response that names the first one. */
  refused(error: unknown): unknown {
    Object.assign(this.exchange.client.headers, this.first.sale.headers);
    return error;
  }

  private operationOf(plan: ChatPlan): PaidOperation {
    return chatOperation(plan, holdSizes(plan, this.trancheTokens));
  }

  private isCause({ code, isFiltered }: Problem): boolean {
    const { on } = this.planned;
    if (code === 'TOO_MANY_TOKENS') return on.includes('context_length_exceeded');
    return isFiltered ? on.includes('content_filter') : FAILURES.has(code);
  }

  /** Takes the next plan. After a prompt that was too long, only one with a larger context. */
  private nextPlan({ model, web }: ChatPlan, { code }: Problem): ChatPlan | undefined {
    for (;;) {
      const plan = this.planned.plans[this.next];
      if (!plan) return undefined;
      this.next += 1;
      if (code === 'TOO_MANY_TOKENS' && plan.model.contextTokens <= model.contextTokens) continue;
      // What was found for the earlier model is used again.
      return plan.web?.kind === web?.kind ? { ...plan, web } : plan;
    }
  }
}

const largest = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);

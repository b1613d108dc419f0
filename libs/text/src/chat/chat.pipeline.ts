import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { Problem } from '@svc/contracts/problems';
import type { Usage } from '@svc/contracts/messages';
import { formatUsd } from '@svc/contracts/money';
import { type ChargedOutput, isAbort } from '../output/output-relay.js';
import { forStream } from '../output/event-stream.js';
import { GatewaySettings } from '@svc/paid';
import { PaidOperations, type Reservation, type PaidCost, isUnserved } from '@svc/paid/paid';
import { type ChatPlan, planChat } from '../request/chat-plan.js';
import type { Findings } from '../web/web-research.js';
import { ChatHold, chatOperation, holdSizes } from './chat-hold.js';
import { totalUsage } from './chat-price.js';
import type { ChatExchange } from './exchange.js';
import { FallbackModels } from './fallback-models.js';
import { FollowUpCall } from './follow-up-call.js';
import { type FinishedCall, Inference } from './inference.js';
import { PromptMaking } from './prompt-making.js';

/**
 * The steps of a chat completion from top to bottom, with the refusals of each on the right. A refusal has
 * its HTTP status until the response has begun, and is an event of the stream from then on. Money is held
 * before the first token and settled before the last byte, however the response ends. A step that this
 * request does not need returns no promise, because waiting for one costs as much as a small step.
 */
@Injectable()
export class ChatPipeline {
  constructor(
    private readonly catalog: Catalog,
    private readonly settings: GatewaySettings,
    private readonly paid: PaidOperations,
    private readonly prompts: PromptMaking,
    private readonly inference: Inference,
    private readonly followUp: FollowUpCall,
  ) {}

  /**
   * Resolves when the response is written and settled, or when the client is gone and what it received is
   * settled.
   */
  async complete(exchange: ChatExchange): Promise<void> {
    const { client } = exchange;
    const tranche = this.settings.config.GATEWAY_TRANCHE_TOKENS;
    const others = FallbackModels.of(exchange, this.catalog, tranche);
    let plan = this.plan(exchange, others); //                                    MODEL_NOT_FOUND, PRO_ONLY_MODEL, …
    const sizes = holdSizes(plan, tranche);
    const operation = others ? others.operation : chatOperation(plan, sizes);
    const beginning = this.paid.begin(operation, exchange);
    const begun = beginning instanceof Promise ? await beginning : beginning;
    Object.assign(client.headers, begun.headers);
    if ('refusal' in begun) throw begun.refusal; //                         RATE_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE
    others?.hideModel();
    const { reservation } = begun;
    let hold = new ChatHold(reservation, sizes, plan);
    let findings: Findings | undefined;
    let first: FinishedCall | undefined;
    try {
      while (!first) {
        try {
          const finding = findings ? undefined : this.prompts.find(plan, exchange);
          if (finding) findings = await finding;
          hold.buy(findings?.purchases);
          const preparing = this.prompts.prepare(plan, findings, client.signal);
          const prompt = preparing instanceof Promise ? await preparing : preparing; // CHARACTER_NOT_FOUND, …
          const covering = hold.coverPrompt(prompt.tokens);
          if (covering) await covering; //                                    INSUFFICIENT_BALANCE
          const prepared = { plan, hold, prompt, findings, others };
          first = await this.inference.complete(exchange, prepared); //         MODEL_AT_CAPACITY, INFERENCE_FAILED, …
        } catch (error) {
          if (!others) throw error;
          const next = await others.after({ plan, error, reservation }, this.paid); // the same, without a next model
          if (next.web !== plan.web) findings = undefined;
          plan = next;
          hold = new ChatHold(reservation, holdSizes(plan, tranche), plan);
        }
      }
      const following = this.followUp.after(exchange, first);
      const last = following ? await following : first; //                    the same, while nothing is delivered
      const counting = this.inference.usage(exchange, last);
      const usages = chargeable(last, counting instanceof Promise ? await counting : counting);
      const settled = await reservation.settle(delivered(exchange, last, usages)); // UNAVAILABLE
      const ending = ended(last, charged(exchange, last, { usages, settled }));
      if (ending) await ending;
    } catch (error) {
      // A request that this service could not serve does not count against its caller's limits.
      if (isUnserved(error)) Object.assign(client.headers, await reservation.cancel());
      this.refuse(exchange, error);
    } finally {
      const releasing = reservation.release();
      if (releasing) await releasing;
    }
  }

  private plan(exchange: ChatExchange, others: FallbackModels | undefined): ChatPlan {
    const plan = others ? others.first : planChat(exchange.chat, exchange, this.catalog);
    exchange.record.model = plan.sale.name;
    Object.assign(exchange.client.headers, plan.sale.headers);
    return plan;
  }

  /** Reports an error as an event if the stream has begun; otherwise throws it for an HTTP status. */
  private refuse({ client, record, chat, dialect }: ChatExchange, error: unknown): void {
    if (client.isGone) {
      record.ended = 'client_gone';
      if (!isAbort(error)) record.problem = Problem.from(error);
      return;
    }
    const late: unknown = client.signal.reason;
    const problem = late instanceof Problem ? late : Problem.from(error);
    if (!client.isStreaming) throw chat.stream === true ? forStream(problem) : problem;
    record.problem = problem;
    client.end(dialect.problemFrames(problem));
  }
}

/** What a request has delivered, which is to be charged. */
function delivered(
  { record }: ChatExchange,
  { prepared, relay, ending }: FinishedCall,
  usages: readonly Usage[],
): Parameters<Reservation['settle']>[0] {
  if (ending.kind !== 'done') record.ended = ending.kind;
  if ('problem' in ending) record.problem = ending.problem;
  return {
    backend: relay.backend,
    lines: prepared.hold.lines(usages),
    usage: totalUsage(usages),
    durationMs: performance.now() - record.startedMs,
  };
}

/** Adds what was charged to the request's log line and its response. */
function charged(
  { client, record }: ChatExchange,
  { ending }: FinishedCall,
  { usages, settled }: { readonly usages: readonly Usage[]; readonly settled: PaidCost },
): ChargedOutput {
  const { cost, headers } = settled;
  const usage = totalUsage(usages);
  Object.assign(client.headers, headers);
  record.promptTokens = usage.promptTokens;
  record.completionTokens = usage.completionTokens;
  record.costUsd = formatUsd(cost.usdNano);
  record.costDiem = formatUsd(cost.diemNano);
  return { ending, usage, cost, hasOutput: (usages.at(-1)?.completionTokens ?? 0) > 0 };
}

/** Ends the response, unless its client is gone. */
function ended({ ending, relay }: FinishedCall, settled: ChargedOutput): Promise<void> | void {
  return ending.kind === 'client_gone' ? undefined : relay.end(settled);
}

/**
 * The usage to charge, by backend call. Calls of an internal tool are free if the client sees nothing else of
 * the response.
 */
function chargeable({ relay, earlier }: FinishedCall, used: Usage): Usage[] {
  const hidesAll = relay.normaliser.tool?.hidesAll === true;
  const last = hidesAll ? { ...used, completionTokens: 0, reasoningTokens: 0 } : used;
  const isEarlierPaid = earlier && (earlier.isShown || last.completionTokens > 0);
  return isEarlierPaid ? [earlier.usage, last] : [last];
}

import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { Problem, type Usage, formatUsd } from '@svc/contracts';
import { type Ending, type Settled, isAbort } from '../answer/answer.js';
import { queryIn } from '../web/search-tool.js';
import { forStream, problemFrames } from '../answer/event-stream.js';
import { totalUsage } from '../paid/price.js';
import { type Reservation, isShortOfMoney, isUnserved } from '../paid/reservation.js';
import { Reservations } from '../paid/reservations.js';
import { limitHeaders, modelHeaders, walletHeaders } from '../http/header-values.js';
import { tokensBeforeResults } from '../request/called-prompt.js';
import { planAfterCall, planChat } from '../request/chat-plan.js';
import type { Exchange } from './exchange.js';
import { type Given, Inference, type Prepared } from './inference.js';

/**
 * The steps of a chat completion from top to bottom, with the refusals of each on the right. A refusal has
 * its HTTP status until the response has begun, and is an event of the stream from then on. Money is held
 * before the first token and settled before the last byte, however the response ends.
 */
@Injectable()
export class ChatPipeline {
  constructor(
    private readonly catalog: Catalog,
    private readonly reservations: Reservations,
    private readonly inference: Inference,
  ) {}

  /**
   * Resolves when the response is written and settled, or when the client is gone and what it received is
   * settled.
   */
  async complete(exchange: Exchange): Promise<void> {
    const { requestId, caller, client, record } = exchange;
    const plan = planChat(exchange.asked, exchange, this.catalog); //              MODEL_NOT_FOUND, PRO_ONLY_MODEL, …
    record.model = plan.model.id;
    Object.assign(client.headers, modelHeaders(plan.model, plan.deprecation));
    const asking = { requestId, caller, headers: client.headers };
    const reservation = await this.reservations.make(asking, plan); //        RATE_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE
    try {
      const findings = await this.inference.prompts.find(plan, exchange);
      reservation.buy(findings?.purchases ?? []);
      const prompt = await this.inference.prompts.prepare(plan, findings, client.signal); // CHARACTER_NOT_FOUND, …
      await reservation.coverPrompt(prompt.tokens); //                        INSUFFICIENT_BALANCE
      const prepared = { plan, reservation, prompt, findings };
      const first = await this.answer(exchange, prepared); //                 MODEL_AT_CAPACITY, INFERENCE_FAILED, …
      const last = await this.searched(exchange, first); //                   the same, while nothing is delivered
      const settled = await this.settle(exchange, last); //                   UNAVAILABLE
      if (last.ending.kind !== 'client_gone') await last.answer.end(settled);
    } catch (error) {
      if (isUnserved(error)) await this.cancel(exchange, reservation);
      this.refuse(exchange, error);
    } finally {
      await reservation.release();
    }
  }

  /** Calls a backend and delivers its response, after any earlier part of it. */
  private async answer(exchange: Exchange, prepared: Prepared, before?: Given): Promise<Given> {
    const answer = await this.inference.ask(exchange, prepared, before?.answer);
    return { prepared, answer, ending: await answer.deliver() };
  }

  /**
   * Continues a response whose model has called the search tool: makes the search, and calls the model again
   * with the findings. Other responses are returned unchanged, and so is what was delivered if the rest
   * fails.
   */
  private async searched(exchange: Exchange, first: Given): Promise<Given> {
    const { plan, reservation, prompt } = first.prepared;
    const call = first.answer.calledBefore(first.ending);
    if (!call || plan.web?.kind !== 'offer') return first;
    const usage = await this.inference.usage(exchange, first);
    if (plan.outputTokensAtMost - usage.completionTokens < LEAST_ANSWER_TOKENS)
      return { ...first, ending: { kind: 'out_of_tokens' } };
    const query = queryIn(call.arguments) ?? plan.web.search.query ?? '';
    const said = { message: call.said(JSON.stringify({ query })), id: call.id };
    const promptTokens = tokensBeforeResults(prompt, said);
    const asked = { offer: plan.web, query, promptTokens, usedTokens: usage.completionTokens };
    const again = planAfterCall(plan, asked);
    try {
      const isPaid = await reservation.askAgain(again, usage); //               UNAVAILABLE
      const found = await this.inference.prompts.lookUp(again, { prompt, said, isPaid }, exchange);
      reservation.buy(found.findings.purchases);
      await reservation.coverPrompt(found.prompt.tokens); //                  INSUFFICIENT_BALANCE
      const last = await this.answer(exchange, { plan: again, reservation, ...found }, first);
      return { ...last, earlier: { usage, isShown: first.answer.normaliser.tool?.isShown === true } };
    } catch (error) {
      if (!first.answer.isBegun) throw error;
      // The client gets no response based on it, so it is not charged.
      reservation.buy([]);
      return { ...first, ending: endingBy(error, exchange) };
    }
  }

  /**
   * Charges what was delivered and adds it to the request's log line. Once resolved, the charge is durable.
   */
  private async settle(exchange: Exchange, given: Given): Promise<Settled> {
    const { record } = exchange;
    const { prepared, answer, ending } = given;
    if (ending.kind !== 'done') record.ended = ending.kind;
    if ('problem' in ending) record.problem = ending.problem;
    const { last, earlier } = chargeable(given, await this.inference.usage(exchange, given));
    const usage = totalUsage(earlier ? [earlier, last] : [last]);
    const durationMs = performance.now() - record.startedMs;
    const { backend } = answer;
    const cost = await prepared.reservation.settle({ backend, usage: last, earlier, durationMs });
    Object.assign(exchange.client.headers, walletHeaders(exchange.caller, prepared.reservation.left(cost)));
    record.promptTokens = usage.promptTokens;
    record.completionTokens = usage.completionTokens;
    record.costUsd = formatUsd(cost.usdNano);
    record.costDiem = formatUsd(cost.diemNano);
    return { ending, usage, cost, hasOutput: last.completionTokens > 0 };
  }

  /** A request that this service could not serve does not count against its caller's limits. */
  private async cancel({ client }: Exchange, reservation: Reservation): Promise<void> {
    const limits = await reservation.cancel();
    if (limits) Object.assign(client.headers, limitHeaders(limits));
  }

  /** Reports an error as an event if the stream has begun; otherwise throws it for an HTTP status. */
  private refuse({ client, record, asked }: Exchange, error: unknown): void {
    if (client.isGone) {
      record.ended = 'client_gone';
      if (!isAbort(error)) record.problem = Problem.from(error);
      return;
    }
    const late: unknown = client.signal.reason;
    const problem = late instanceof Problem ? late : Problem.from(error);
    if (!client.isStreaming) throw asked.stream === true ? forStream(problem) : problem;
    record.problem = problem;
    client.end(problemFrames(problem));
  }
}

/** No search is made if fewer output tokens are left. */
const LEAST_ANSWER_TOKENS = 16;

/**
 * The usage to charge. Calls of an internal tool are free if the client sees nothing else of the response.
 */
function chargeable({ answer, earlier }: Given, used: Usage): { last: Usage; earlier: Usage | undefined } {
  const hidesAll = answer.normaliser.tool?.hidesAll === true;
  const last = hidesAll ? { ...used, completionTokens: 0, reasoningTokens: 0 } : used;
  const isEarlierPaid = earlier && (earlier.isShown || last.completionTokens > 0);
  return { last, earlier: isEarlierPaid ? earlier.usage : undefined };
}

/** How a response ends that has begun and cannot continue. */
function endingBy(error: unknown, { client }: Exchange): Ending {
  if (client.isGone) return { kind: 'client_gone', ...(!isAbort(error) && { problem: Problem.from(error) }) };
  return isShortOfMoney(error) ? { kind: 'out_of_money' } : { kind: 'cut', problem: Problem.from(error) };
}

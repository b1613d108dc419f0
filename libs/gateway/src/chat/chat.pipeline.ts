import { Injectable } from '@nestjs/common';
import { Problem, formatUsd } from '@svc/contracts';
import { Catalog } from '@svc/runtime';
import type { Answer, Ending, Settled } from '../answer/answer.js';
import { forStream, problemFrames } from '../answer/event-stream.js';
import { Reservations } from '../holds/reservations.js';
import { modelHeaders } from '../http/header-values.js';
import { planChat } from '../request/chat-plan.js';
import type { Exchange } from './exchange.js';
import { Inference, type Prepared } from './inference.js';

/**
 * The life of a chat completion from top to bottom; on the right, what each step may refuse with. A refusal has its
 * HTTP status until the answer has begun, and is an event of the stream from then on. Money is held before the first
 * token and settled before the last byte, however the answer ends.
 */
@Injectable()
export class ChatPipeline {
  constructor(
    private readonly catalog: Catalog,
    private readonly reservations: Reservations,
    private readonly inference: Inference,
  ) {}

  /** Resolves when the answer is written and settled, or its client has gone and what it got is settled. */
  async complete(exchange: Exchange): Promise<void> {
    const { requestId, caller, client, record } = exchange;
    const plan = planChat(exchange.asked, exchange, this.catalog); //              MODEL_NOT_FOUND, PRO_ONLY_MODEL, …
    record.model = plan.model.id;
    Object.assign(client.headers, modelHeaders(plan.model, plan.deprecation));
    const asking = { requestId, caller, headers: client.headers };
    const reservation = await this.reservations.make(asking, plan); //        RATE_LIMIT_EXCEEDED, INSUFFICIENT_BALANCE
    try {
      const prompt = await this.inference.prepare(plan, client.signal); //    CHARACTER_NOT_FOUND, INVALID_REQUEST
      await reservation.coverPrompt(prompt.tokens); //                        INSUFFICIENT_BALANCE
      const prepared = { plan, reservation, prompt };
      const answer = await this.inference.ask(exchange, prepared); //         MODEL_AT_CAPACITY, INFERENCE_FAILED, …
      const ending = await answer.deliver(); //                               INFERENCE_FAILED, while nothing is delivered
      const settled = await this.settle(exchange, prepared, { answer, ending }); // UNAVAILABLE
      if (ending.kind !== 'client_gone') await answer.end(settled);
    } catch (error) {
      this.refuse(exchange, error);
    } finally {
      await reservation.release();
    }
  }

  /** Charges what was delivered and notes it in the request's log line. Once resolved, the charge is durable. */
  private async settle(
    exchange: Exchange,
    prepared: Prepared,
    { answer, ending }: { answer: Answer; ending: Ending },
  ): Promise<Settled> {
    const { record } = exchange;
    if (ending.kind !== 'done') record.ended = ending.kind;
    if (ending.kind === 'cut') record.problem = ending.problem;
    const usage = await this.inference.usage(exchange, prepared, { answer, ending });
    const durationMs = performance.now() - record.startedMs;
    const cost = await prepared.reservation.settle({ backend: answer.backend, usage, durationMs });
    record.promptTokens = usage.promptTokens;
    record.completionTokens = usage.completionTokens;
    record.costUsd = formatUsd(cost.usdNano);
    record.costDiem = formatUsd(cost.diemNano);
    return { ending, usage, cost };
  }

  /** Tells the client in the way that is left: throws what can still have an HTTP status. */
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

/** Whether something ended because nobody waited for it any more. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && (/abort/i.test(error.name) || isAbort(error.cause));
}

import { Injectable } from '@nestjs/common';
import { InferenceRouter, type Usage } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { Answer, type BackendAnswer, type Ending } from '../answer/answer.js';
import { AnswerNormaliser } from '../answer/normaliser.js';
import { StreamedForm } from '../answer/streamed-form.js';
import { type Ended, estimatedUsage, usageOf } from '../answer/usage.js';
import { WholeForm } from '../answer/whole-form.js';
import { ProgressiveHold } from '../holds/progressive-hold.js';
import type { Reservation } from '../holds/reservation.js';
import { type ChatPlan, inferenceCall } from '../request/chat-plan.js';
import { Preparation, type PreparedPrompt } from '../request/preparation.js';
import type { Exchange } from './exchange.js';

/** What an exchange has come to on its way to a backend. */
export interface Prepared {
  readonly plan: ChatPlan;
  readonly reservation: Reservation;
  readonly prompt: PreparedPrompt;
}

/** Makes a prompt ready for a backend and asks one. */
@Injectable()
export class Inference {
  constructor(
    private readonly preparation: Preparation,
    private readonly router: InferenceRouter,
    private readonly logger: RootLogger,
  ) {}

  prepare(plan: ChatPlan, signal: AbortSignal): Promise<PreparedPrompt> {
    return this.preparation.prepare(plan, signal);
  }

  /** Resolves when the answer has begun, or is there where the backend does not stream it. Refuses what the router does. */
  async ask(exchange: Exchange, { plan, reservation, prompt }: Prepared): Promise<Answer> {
    const { requestId, record, client } = exchange;
    record.stream = plan.stream;
    // An answer that may cost more than is held is streamed by the backend, so that more can be held on the way.
    const stream = plan.stream || !reservation.coversWholeAnswer;
    const call = inferenceCall(plan, requestId, {
      stream,
      messages: prompt.messages,
      promptTokens: prompt.tokens,
    });
    const asked: Promise<BackendAnswer> = stream
      ? this.router.stream(call, client.signal)
      : this.router.complete(call, client.signal);
    const source = await (plan.stream ? client.beginWith(asked) : asked);
    record.backend = source.backend;
    client.headers['x-svc-model-router'] = source.backend;
    if (source.retries > 0) client.headers['x-retry-count'] = source.retries;
    const normaliser = new AnswerNormaliser({
      saying: stream ? 'delta' : 'message',
      thinking: plan.thinking,
      tokenizer: prompt.tokenizer,
    });
    const about = {
      id: requestId,
      model: plan.model.id,
      parameters: plan.parameters,
      usageApart: plan.request.stream_options?.include_usage ?? false,
    };
    const form = plan.stream
      ? new StreamedForm(client, normaliser, about)
      : new WholeForm(client, normaliser, about);
    const hold = stream ? new ProgressiveHold(reservation, plan) : undefined;
    return new Answer({ source, normaliser, hold, form });
  }

  /** What an answer used. Whatever a backend says and whatever fails here, there is something to charge. */
  async usage(
    { requestId }: Exchange,
    { plan, prompt, reservation }: Prepared,
    { answer, ending }: { answer: Answer; ending: Ending },
  ): Promise<Usage> {
    const { backend, normaliser } = answer;
    const ended: Ended = {
      ...normaliser.counts,
      isWhole: ending.kind === 'done',
      prompt,
      outputTokensAtMost: plan.outputTokensAtMost,
      paidTokensAtMost:
        ending.kind === 'out_of_money' && !prompt.tokenizer
          ? reservation.coveredTokens
          : Number.POSITIVE_INFINITY,
      mayThink: plan.model.capabilities.supportsReasoning,
    };
    try {
      const { usage, doubted } = await usageOf(ended);
      if (doubted.length > 0) {
        const { reported } = normaliser;
        this.logger.log.warn({ requestId, backend, doubted, reported, usage }, 'counts were not believed');
      }
      return usage;
    } catch (error) {
      this.logger.log.error({ err: error, requestId }, 'an answer could not be counted and is estimated');
      return estimatedUsage(ended);
    }
  }
}

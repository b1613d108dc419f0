import { Injectable } from '@nestjs/common';
import { InferenceRouter, type Message } from '@svc/contracts';
import type { AnswerContext } from './answer.js';
import { inferenceCall } from './chat-plan.js';
import { Preparation } from './preparation.js';
import { Prompts } from './prompts.js';
import { StreamedAnswer } from './streamed-answer.js';
import { estimatePromptTokens } from './tokens.js';
import { wholeAnswer } from './whole-answer.js';

/** The body of a whole answer, or the frames of a streamed one. */
export type ChatAnswer = string | StreamedAnswer;

/** Makes a request ready for a backend and asks one. */
@Injectable()
export class Inference {
  constructor(
    private readonly prompts: Prompts,
    private readonly preparation: Preparation,
    private readonly router: InferenceRouter,
  ) {}

  /** Refuses what the preparation and the router refuse, and INSUFFICIENT_BALANCE when files were larger than held for. */
  async infer(given: AnswerContext): Promise<ChatAnswer> {
    const { plan, record, requestId, signal, ticket } = given;
    const messages = await this.ready(given);
    const promptTokens = messages
      ? estimatePromptTokens({ ...plan.request, messages: [...messages] })
      : plan.promptTokens;
    if (promptTokens > plan.promptTokens) await ticket.coverPrompt(promptTokens);
    const context = { ...given, plan: { ...plan, promptTokens } };
    const call = inferenceCall(plan, requestId, messages);
    record.stream = plan.stream;
    if (plan.stream) {
      const chunks = await this.router.stream(call, signal);
      record.backend = chunks.backend;
      return new StreamedAnswer(chunks, context);
    }
    const completion = await this.router.complete(call, signal);
    record.backend = completion.backend;
    return wholeAnswer(completion, context);
  }

  /** The messages for the backend, where they are not just the client's. */
  private async ready({ plan, signal }: AnswerContext): Promise<readonly Message[] | undefined> {
    const { messages } = plan.request;
    const prompts = this.prompts.for(plan.parameters, plan.model);
    const ready = await this.preparation.ready(messages, prompts, signal);
    return ready === messages ? undefined : ready;
  }
}

import { Injectable } from '@nestjs/common';
import { InferenceRouter, type Message } from '@svc/contracts';
import type { AnswerContext } from '../answer/answer.js';
import { type ChatPlan, inferenceCall } from '../request/chat-plan.js';
import { Preparation } from '../request/preparation.js';
import { promptCount } from '../tokens/prompt-count.js';
import { StreamedAnswer } from '../answer/streamed-answer.js';
import { Tokenizers } from '../tokens/tokenizers.js';
import { estimatePromptTokens } from '../tokens/tokens.js';
import { gatheredAnswer, wholeAnswer } from '../answer/whole-answer.js';

/** The body of a whole answer, or the frames of a streamed one. */
export type ChatAnswer = string | StreamedAnswer;

/** A request on its way to a backend. */
export type Asked = Omit<AnswerContext, 'tokenizer' | 'countPrompt'>;

/** Makes a request ready for a backend and asks one. */
@Injectable()
export class Inference {
  constructor(
    private readonly preparation: Preparation,
    private readonly tokenizers: Tokenizers,
    private readonly router: InferenceRouter,
  ) {}

  /**
   * Refuses what the preparation and the router refuse, and as a hold does when files were larger than held for or
   * there is no money for a first token.
   */
  async infer(asked: Asked): Promise<ChatAnswer> {
    const { plan, record, requestId, signal, ticket } = asked;
    const ready = await this.preparation.ready(plan, signal);
    const context = { ...asked, ...this.prompt(plan, ready?.messages) };
    const { promptTokens } = context.plan;
    if (promptTokens > plan.promptTokens) await ticket.coverPrompt(promptTokens);
    record.stream = plan.stream;
    // An answer that may cost more than is held is streamed by the backend, so that more can be held on the way.
    const stream = plan.stream || !ticket.coversWholeAnswer;
    const call = inferenceCall(plan, requestId, { stream, messages: ready?.text });
    if (!stream) {
      const completion = await this.router.complete(call, signal);
      record.backend = completion.backend;
      return wholeAnswer(completion, context);
    }
    const chunks = await this.router.stream(call, signal);
    record.backend = chunks.backend;
    return plan.stream ? new StreamedAnswer(chunks, context) : gatheredAnswer(chunks, context);
  }

  /** What becomes of the plan, and who counts. */
  private prompt(
    plan: ChatPlan,
    messages: readonly Message[] | undefined,
  ): Pick<AnswerContext, 'plan' | 'tokenizer' | 'countPrompt'> {
    const request = messages ? { ...plan.request, messages: [...messages] } : plan.request;
    const promptTokens = messages ? estimatePromptTokens(request) : plan.promptTokens;
    const tokenizer = this.tokenizers.for(plan.model);
    const countPrompt = promptCount(request, promptTokens, tokenizer);
    return { plan: { ...plan, promptTokens }, tokenizer, countPrompt };
  }
}

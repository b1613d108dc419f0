import { Injectable } from '@nestjs/common';
import { InferenceRouter, type Usage } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { inference, traced } from '@svc/telemetry';
import { Answer, type BackendAnswer, type Ending } from '../answer/answer.js';
import type { AnswerHead } from '../answer/answer-head.js';
import { HiddenTool } from '../answer/hidden-tool.js';
import { AnswerNormaliser } from '../answer/normaliser.js';
import { StreamedForm } from '../answer/streamed-form.js';
import { type Ended, estimatedUsage, usageOf } from '../answer/usage.js';
import { WholeForm } from '../answer/whole-form.js';
import { ProgressiveHold } from '../paid/progressive-hold.js';
import type { Reservation } from '../paid/reservation.js';
import { type ChatPlan, inferenceCall, offeredTool } from '../request/chat-plan.js';
import type { PreparedPrompt } from '../request/preparation.js';
import { documentsCall } from '../web/documents-call.js';
import type { Findings } from '../web/web-research.js';
import type { Exchange } from './exchange.js';
import { PromptMaking } from './prompt-making.js';

/** What an exchange has come to on its way to a backend. */
export interface Prepared {
  readonly plan: ChatPlan;
  readonly reservation: Reservation;
  readonly prompt: PreparedPrompt;
  /** What was found on the web, where something was looked for. */
  readonly findings: Findings | undefined;
}

/** An answer and how it ended, and what it was made of. */
export interface Given {
  readonly prepared: Prepared;
  readonly answer: Answer;
  readonly ending: Ending;
  /** What was asked before it for the same request. */
  readonly earlier?: { readonly usage: Usage; readonly isShown: boolean };
}

/** Asks a backend, and tells what its answer took. */
@Injectable()
export class Inference {
  constructor(
    readonly prompts: PromptMaking,
    private readonly router: InferenceRouter,
    private readonly logger: RootLogger,
  ) {}

  /**
   * Resolves when the answer has begun, or is there where the backend does not stream it; goes on with one that was given before.
   * Refuses what the router does.
   */
  async ask(exchange: Exchange, prepared: Prepared, before?: Answer): Promise<Answer> {
    const { plan, reservation, prompt, findings } = prepared;
    const { requestId, caller, record, client, silenceMs, patienceMs } = exchange;
    record.stream = plan.stream;
    // An answer that may cost more than is held is streamed by the backend, so that more can be held on the way.
    const stream = plan.stream || !reservation.coversWholeAnswer;
    const call = await inferenceCall(
      plan,
      { requestId, accountId: caller.accountId },
      {
        stream,
        messages: prompt.messages,
        promptTokens: prompt.tokens,
      },
    );
    const asked = traced<BackendAnswer>('infer', () =>
      stream ? this.router.stream(call, client.signal) : this.router.complete(call, client.signal),
    );
    const source = await (plan.stream ? client.beginWith(asked) : asked);
    record.backend = source.backend;
    client.headers['x-svc-model-router'] = source.backend;
    if (source.retries > 0) client.headers['x-retry-count'] = source.retries;
    const normaliser = new AnswerNormaliser({
      saying: stream ? 'delta' : 'message',
      thinking: plan.thinking,
      tokenizer: prompt.tokenizer,
      sources: sourcesOf(plan, findings),
      tool: hiddenTool(plan),
    });
    const about = {
      id: requestId,
      model: plan.model.id,
      parameters: { ...plan.parameters, ...findings?.echo },
      ...shownResults(plan, requestId, findings),
      usageApart: plan.request.stream_options?.include_usage ?? false,
    };
    const form =
      before?.form ??
      (plan.stream ? new StreamedForm(client, normaliser, about) : new WholeForm(client, normaliser, about));
    if (before) form.goOn(normaliser, about);
    if (before?.normaliser.tool?.isTextShown === true) form.add([PARAGRAPH]);
    const hold = stream
      ? new ProgressiveHold(reservation, plan, { patienceMs, signal: client.signal })
      : undefined;
    return new Answer({ source, normaliser, hold, form, silenceMs });
  }

  /** What an answer used. Whatever a backend says and whatever fails here, there is something to charge. */
  async usage({ requestId }: Exchange, { prepared, answer, ending }: Given): Promise<Usage> {
    const { plan, prompt, reservation } = prepared;
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
      mayBeEncrypted: plan.model.capabilities.supportsE2EE === true,
    };
    try {
      const { usage, doubted } = await usageOf(ended);
      if (doubted.length > 0) {
        for (const doubt of doubted) inference.doubted.add(1, plan.model.id, backend, doubt);
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

/** Sets what is said after a search apart from what was said before it. */
const PARAGRAPH = {
  index: 0,
  delta: { content: '\n\n' },
  logprobs: null,
  finish_reason: null,
  stop_reason: undefined,
};

/** A tool of ours is kept from clients, called or not; it may be called once. */
function hiddenTool(plan: ChatPlan): HiddenTool | undefined {
  const offered = offeredTool(plan);
  return offered && new HiddenTool(offered.tool.function.name, !offered.isCalled);
}

/** The sources that an answer may cite: none before anything was found. */
function sourcesOf({ web }: ChatPlan, findings: Findings | undefined): number | undefined {
  return web?.kind === 'offer' && web.cites ? 0 : findings?.sources;
}

/** How what was found is told, beside the echo. */
function shownResults(
  { parameters }: ChatPlan,
  requestId: string,
  findings: Findings | undefined,
): Pick<AnswerHead, 'resultsFirst' | 'documents'> {
  const found = findings?.echo.web_search_citations ?? [];
  return {
    resultsFirst: parameters.include_search_results_in_stream && findings !== undefined,
    documents:
      parameters.return_search_results_as_documents && found.length > 0
        ? documentsCall(requestId, found)
        : undefined,
  };
}

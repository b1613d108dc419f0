import { Injectable } from '@nestjs/common';
import { Chat, type ChatCall, type ChatResponse } from '@svc/contracts/inference';
import type { Usage } from '@svc/contracts/messages';
import { RootLogger } from '@svc/runtime';
import { LabelNames, inference, traced } from '@svc/telemetry';
import { servedBy } from '@svc/paid/http';
import { OutputRelay, type Ending } from '../output/output-relay.js';
import type { CompletionHead } from '../output/completion-head.js';
import { InternalTool } from '../output/internal-tool.js';
import { OutputNormaliser } from '../output/normaliser.js';
import { type EndedCompletion, type TrustedUsage, estimatedUsage, usageOf } from '../output/usage.js';
import { type ChatPlan, addedTool, chatBody, chatCall } from '../request/chat-plan.js';
import { originalChat } from '../request/original-request.js';
import type { PreparedPrompt } from '../request/preparation.js';
import { documentsCall } from '../web/documents-call.js';
import type { Findings } from '../web/web-research.js';
import type { ChatHold } from './chat-hold.js';
import type { ChatExchange } from './exchange.js';
import type { FallbackModels } from './fallback-models.js';
import { ProgressiveHold } from './progressive-hold.js';

/** A request that is ready for a backend. */
export interface PreparedCall {
  readonly plan: ChatPlan;
  readonly hold: ChatHold;
  readonly prompt: PreparedPrompt;
  /** The web findings, if there was a search or pages to read. */
  readonly findings: Findings | undefined;
  /** The models to fall back to, if the request names any. */
  readonly others?: FallbackModels | undefined;
}

/** A response, how it ended, and its request. */
export interface FinishedCall {
  readonly prepared: PreparedCall;
  readonly relay: OutputRelay;
  readonly ending: Ending;
  /** The earlier backend call of the same request, if any. */
  readonly earlier?: { readonly usage: Usage; readonly isShown: boolean };
}

/** Calls backends and determines the usage of their responses. */
@Injectable()
export class Inference {
  private readonly unknownFinishes = new LabelNames();

  constructor(
    private readonly chat: Chat,
    private readonly logger: RootLogger,
  ) {}

  /** Calls a backend and delivers its response, after that of an earlier call. Refuses as the router. */
  async complete(
    exchange: ChatExchange,
    prepared: PreparedCall,
    before?: OutputRelay,
  ): Promise<FinishedCall> {
    const { plan, hold, others } = prepared;
    exchange.record.stream = plan.stream;
    // A response that may cost more than is held is streamed by the backend, so that the hold can grow
    // meanwhile.
    const stream = plan.stream || !hold.coversWholeOutput;
    const { client } = exchange;
    const response = this.infer(exchange, prepared, stream);
    const pending = others ? others.unfiltered(response) : response;
    const source = await (plan.stream ? client.beginWith(pending) : pending);
    exchange.record.backend = source.backend;
    Object.assign(client.headers, servedBy(source.backend, source.retries));
    others?.begun(plan, source);
    const relay = relayOf(exchange, prepared, { source, stream, before });
    const delivering = relay.deliver();
    const ending = delivering instanceof Promise ? await delivering : delivering;
    this.reportUnknownFinish(exchange, plan, relay);
    return { prepared, relay, ending };
  }

  /**
   * Calls a backend. Apart from `complete`, which would keep the body of the call until the end of the
   * response.
   */
  private infer(exchange: ChatExchange, prepared: PreparedCall, stream: boolean): Promise<ChatResponse> {
    const calling = this.callOf(exchange, prepared, stream);
    const infer = (call: ChatCall): Promise<ChatResponse> => {
      forgetText(exchange, prepared);
      const { signal } = exchange.client;
      return traced('infer', () =>
        stream ? this.chat.stream(call, signal) : this.chat.complete(call, signal),
      );
    };
    return calling instanceof Promise ? calling.then(infer) : infer(calling);
  }

  /** An unknown finish reason is taken for a normal end, which may be wrong. */
  private reportUnknownFinish({ requestId }: ChatExchange, plan: ChatPlan, relay: OutputRelay): void {
    const { backend, normaliser } = relay;
    const { unknownFinish: name } = normaliser.facts;
    if (name === undefined) return;
    const finishReason = this.unknownFinishes.labelOf(name);
    inference.unknownFinishes.add(1, plan.model.id, backend, finishReason);
    this.logger.log.warn(
      { requestId, backend, finishReason },
      'an unknown finish reason was taken for a stop',
    );
  }

  /** The router's call; a promise only if it has long strings. */
  private callOf(
    { requestId, caller, original: request }: ChatExchange,
    { plan, prompt }: PreparedCall,
    stream: boolean,
  ): ChatCall | Promise<ChatCall> {
    const origin = { requestId, accountId: caller.accountId };
    const body = chatBody(plan, { stream, promptTokens: prompt.tokens });
    const original = originalChat(plan, request);
    if (!(body instanceof Promise) && original === undefined) return chatCall(plan, origin, body);
    return Promise.all([body, original]).then(([bytes, written]) => ({
      ...chatCall(plan, origin, bytes),
      ...(written && { original: written }),
    }));
  }

  /**
   * The usage of a response; a promise only if tokens must be counted. Never fails, so that every response
   * can be charged.
   */
  usage(exchange: ChatExchange, call: FinishedCall): Usage | Promise<Usage> {
    const ended = endedCompletion(call);
    const estimated = (error: unknown): Usage => {
      this.logger.log.error(
        { err: error, requestId: exchange.requestId },
        'the tokens of a response could not be counted and are estimated',
      );
      return estimatedUsage(ended);
    };
    try {
      const trusted = usageOf(ended);
      if (!(trusted instanceof Promise)) return this.trusted(exchange, call, trusted);
      return trusted.then((counted) => this.trusted(exchange, call, counted)).catch(estimated);
    } catch (error) {
      return estimated(error);
    }
  }

  /** Reports counts that were not plausible. */
  private trusted(
    { requestId }: ChatExchange,
    { prepared, relay }: FinishedCall,
    { usage, doubted }: TrustedUsage,
  ): Usage {
    if (doubted.length === 0) return usage;
    const { backend, normaliser } = relay;
    for (const doubt of doubted) inference.doubted.add(1, prepared.plan.model.id, backend, doubt);
    const { reported } = normaliser.facts;
    this.logger.log.warn(
      { requestId, backend, doubted, reported, usage },
      'implausible token counts of a backend were replaced',
    );
    return usage;
  }
}

/** A response that has begun, or is complete if the backend does not stream it. */
interface BegunResponse {
  readonly source: ChatResponse;
  /** Whether the backend streams it. */
  readonly stream: boolean;
  /** The response that it continues. */
  readonly before: OutputRelay | undefined;
}

function relayOf(
  exchange: ChatExchange,
  { plan, hold: paid, prompt, findings }: PreparedCall,
  { source, stream, before }: BegunResponse,
): OutputRelay {
  const { requestId, dialect, client, idleTimeoutMs, ledgerTimeoutMs } = exchange;
  const normaliser = new OutputNormaliser({
    facts: source.facts,
    thinking: thinkingIn(source, plan),
    tokenizer: prompt.tokenizer,
    sources: sourcesOf(plan, findings),
    tool: internalTool(plan),
    isEncrypted: plan.encryption !== undefined,
  });
  const about = {
    id: requestId,
    model: plan.model.id,
    promptTokens: prompt.tokens,
    parameters: { ...plan.parameters, ...findings?.echo },
    ...shownResults(plan, requestId, findings),
    serviceTier: servedTier(plan),
    usageApart: plan.request.stream_options?.include_usage ?? false,
  };
  const encoder =
    before?.encoder ??
    (plan.stream ? dialect.streamed(client, normaliser, about) : dialect.whole(client, normaliser, about));
  if (before) encoder.continueWith(normaliser, about);
  if (before?.normaliser.tool?.isTextShown === true) encoder.add([PARAGRAPH]);
  const hold = stream
    ? new ProgressiveHold(paid, plan, { ledgerTimeoutMs, signal: client.signal })
    : undefined;
  return new OutputRelay({ source, normaliser, hold, encoder, idleTimeoutMs });
}

/** Only a follow-up call, or a call of another model, needs the text again. */
function forgetText({ original }: ChatExchange, { plan, others }: PreparedCall): void {
  if (plan.web?.kind === 'offer' || others) return;
  plan.text.forget();
  original?.forget();
}

/** The request as its client wrote it says which reasoning it gets. */
function thinkingIn({ facts }: ChatResponse, { thinking }: ChatPlan): ChatPlan['thinking'] {
  return facts.isOriginal === true ? { ...thinking, strip: false } : thinking;
}

function endedCompletion({ prepared, relay, ending }: FinishedCall): EndedCompletion {
  const { plan, prompt, hold } = prepared;
  return {
    ...relay.normaliser.counts,
    isWhole: ending.kind === 'done',
    prompt,
    outputTokensAtMost: plan.outputTokensAtMost,
    paidTokensAtMost:
      ending.kind === 'out_of_money' && !prompt.tokenizer ? hold.coveredTokens : Number.POSITIVE_INFINITY,
    mayThink: plan.model.capabilities.supportsReasoning,
    isEncrypted: plan.encryption !== undefined,
  };
}

/** The tier that a request was served in, if it asked for one. */
function servedTier({ request, model }: ChatPlan): CompletionHead['serviceTier'] {
  const { service_tier: tier } = request;
  return tier === undefined || tier === null ? undefined : (model.soldTier?.name ?? 'default');
}

/** Separates the text after a search from the text before it. */
const PARAGRAPH = {
  index: 0,
  delta: { content: '\n\n' },
  logprobs: null,
  finish_reason: null,
  stop_reason: undefined,
};

/** Hides an internal tool from clients, called or not. It may be called once. */
function internalTool(plan: ChatPlan): InternalTool | undefined {
  const offered = addedTool(plan);
  return offered && new InternalTool(offered.tool.function.name, !offered.isCalled);
}

/** The number of sources that a response may cite: zero before a search. */
function sourcesOf({ web }: ChatPlan, findings: Findings | undefined): number | undefined {
  return web?.kind === 'offer' && web.cites ? 0 : findings?.sources;
}

/** How to report the findings in addition to the echo. */
function shownResults(
  { parameters }: ChatPlan,
  requestId: string,
  findings: Findings | undefined,
): Pick<CompletionHead, 'resultsFirst' | 'documents'> {
  const found = findings?.echo.web_search_citations ?? [];
  return {
    resultsFirst: parameters.include_search_results_in_stream && findings !== undefined,
    documents:
      parameters.return_search_results_as_documents && found.length > 0
        ? documentsCall(requestId, found)
        : undefined,
  };
}

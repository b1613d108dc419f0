import type { Cost, SvcParametersEcho } from '@svc/api/chat';
import type { ResponseRequest } from '@svc/api/responses';
import type { Usage } from '@svc/contracts/messages';
import {
  type ChargedOutput,
  costView,
  type CompletionHead,
  echoOf,
  type FinishReason,
} from '@svc/text/output';
import type { OfferedTools } from './offered-tools.js';

/** What a response depends on in addition to its model's output. */
export interface ResponseOptions {
  readonly tools: OfferedTools;
  /** Whether reasoning is shown as a summary, because the client asked for one. */
  readonly summarises: boolean;
}

/** What is known at the end of a response. */
interface ResponseEnd {
  readonly usage: object;
  readonly cost: Cost;
  readonly svc_parameters: SvcParametersEcho;
}

/** The status of a response that its model has ended. */
export function statusOf(reason: FinishReason): 'completed' | 'incomplete' {
  return reason === 'length' || reason === 'content_filter' ? 'incomplete' : 'completed';
}

/** The members of every response and of the events that contain one, with the settings of its request. */
export class ResponseHead {
  private readonly createdAt = Math.floor(Date.now() / 1_000);

  constructor(
    private readonly request: ResponseRequest,
    private readonly about: Pick<CompletionHead, 'id' | 'model' | 'serviceTier'>,
  ) {}

  /** A response in some state; members that are not given are null. */
  with(status: string, output: readonly object[], more: object = {}): object {
    const { request, about, createdAt } = this;
    return {
      id: about.id,
      object: 'response',
      created_at: createdAt,
      status,
      error: null,
      incomplete_details: null,
      model: about.model,
      output,
      usage: null,
      cost: null,
      svc_parameters: null,
      ...settingsOf(request, about.serviceTier),
      ...more,
    };
  }

  /** A response that its model has ended. */
  ended(reason: FinishReason, output: readonly object[], end: ResponseEnd): object {
    const status = statusOf(reason);
    const why = reason === 'content_filter' ? 'content_filter' : 'max_output_tokens';
    return this.with(status, output, {
      ...end,
      incomplete_details: status === 'incomplete' ? { reason: why } : null,
      ...(status === 'completed' && { completed_at: Math.floor(Date.now() / 1_000) }),
    });
  }
}

/** Members of a request that its response repeats as they are, or null. */
const REPEATED = [
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'prompt_cache_key',
  'safety_identifier',
  'temperature',
  'top_p',
  'user',
] as const satisfies readonly (keyof ResponseRequest)[];

/** The settings in effect, in the form of OpenAI, whose clients read some of them. */
function settingsOf(request: ResponseRequest, serviceTier = 'default'): object {
  const { reasoning, text } = request;
  return {
    ...Object.fromEntries(REPEATED.map((name) => [name, request[name] ?? null])),
    background: false,
    previous_response_id: null,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    service_tier: serviceTier,
    store: false,
    text: { ...text, format: text?.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_logprobs: request.top_logprobs ?? 0,
    truncation: 'disabled',
    metadata: request.metadata ?? {},
  };
}

/** Usage, cost and options of a charged response. */
export function endOf(
  { usage, cost, hasOutput }: ChargedOutput,
  about: CompletionHead,
  citedUrls: readonly string[],
): ResponseEnd {
  return {
    usage: usageOf(usage),
    cost: costView(cost),
    svc_parameters: echoOf(about, hasOutput, citedUrls),
  };
}

function usageOf(usage: Usage): object {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}

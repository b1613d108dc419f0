import { type Fields, isFields } from '@svc/contracts/inference';
import { type MessageUsage, type MessagesRequest, isWebSearch } from '@svc/api/messages';
import type { SvcParametersEcho } from '@svc/api/chat';
import type { Usage } from '@svc/contracts/messages';
import { jsonOrUndefined } from '@svc/runtime';
import type { CompletionHead, FinishReason } from '@svc/text/output';
import { showsThinking } from './thinking.js';

/** What a client asked of the form of its message. */
export interface MessageShape {
  /** Whether the message has the model's reasoning. */
  readonly thinks: boolean;
  /** Whether the message has the web search and its results. */
  readonly searches: boolean;
  readonly stops: readonly string[];
}

export function shapeOf(request: MessagesRequest): MessageShape {
  const { tools, stop_sequences: stops, svc_parameters: parameters } = request;
  return {
    thinks: showsThinking(request),
    searches:
      tools?.some(({ type }) => isWebSearch(type)) === true ||
      parameters?.include_search_results_in_stream === true ||
      parameters?.return_search_results_as_documents === true,
    stops: stops ?? [],
  };
}

/** A message without content. */
export function emptyMessage({ id, model }: Pick<CompletionHead, 'id' | 'model'>): Fields {
  return { id, type: 'message', role: 'assistant', model, content: [], diagnostics: null };
}

/** The end of a message. */
export function stopOf(reason: FinishReason | null, stoppedBy: string | undefined): Fields {
  const isRefusal = reason === 'content_filter';
  return {
    stop_reason:
      reason === 'stop' && stoppedBy !== undefined ? 'stop_sequence' : STOP_REASONS[reason ?? 'length'],
    stop_sequence: (reason === 'stop' ? stoppedBy : undefined) ?? null,
    stop_details: isRefusal ? { type: 'refusal', category: null, explanation: null } : null,
    container: null,
  };
}

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

export const NOT_STOPPED: Fields = {
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  container: null,
};

/** The counts of a message that change while it is written. */
export function usageCounts(
  usage: Usage,
  searches: number,
): Pick<MessageUsage, 'input_tokens' | 'output_tokens'> & Fields {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, promptTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
    server_tool_use: searches > 0 ? { web_search_requests: searches, web_fetch_requests: 0 } : null,
  };
}

/** The usage of a whole message. */
export function messageUsage(usage: Usage, searches: number): Fields {
  return {
    ...usageCounts(usage, searches),
    cache_creation: null,
    inference_geo: null,
    service_tier: 'standard',
    speed: null,
  };
}

const DIRECT = { type: 'direct' };

/** A call of a client's tool. */
export function toolUse(id: unknown, name: unknown, input: object): Fields {
  return { type: 'tool_use', id, name: name ?? '', input, caller: DIRECT };
}

/** The web search and its results; none without results. */
export function searchBlocks(id: string, parameters: SvcParametersEcho): Fields[] {
  const { web_search_citations: found, web_search_query: query = '' } = parameters;
  if (found.length === 0) return [];
  const useId = `srvtoolu_${id.replace(/^msg_/, '')}`;
  const results = found.map(({ title, url, date }) => ({
    type: 'web_search_result',
    url,
    title,
    encrypted_content: '',
    page_age: date ?? null,
  }));
  return [
    { type: 'server_tool_use', id: useId, name: 'web_search', input: { query }, caller: DIRECT },
    { type: 'web_search_tool_result', tool_use_id: useId, content: results, caller: DIRECT },
  ];
}

/**
 * The arguments of a call as an object. Anything else that a model writes is kept in the way that Anthropic
 * describes for invalid JSON.
 */
export function inputOf(text: unknown): object {
  const written = typeof text === 'string' ? text : '';
  if (written.trim() === '') return {};
  const value = jsonOrUndefined(written);
  return isFields(value) ? value : { INVALID_JSON: written };
}

import { type Fields, fieldsOf } from '@svc/contracts/inference';
import type { SvcParametersEcho } from '@svc/api/chat';
import type { UrlCitation } from '@svc/api/responses';
import { type OfferedTool, inputIn } from './offered-tools.js';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** The kinds of text that a model writes, each in an item of its own. */
export type TextKind = 'content' | 'refusal' | 'reasoning' | 'summary';

/** A text as it is so far. */
export interface WrittenText {
  readonly kind: TextKind;
  readonly text: string;
  readonly logprobs: readonly Fields[];
  readonly citations: readonly UrlCitation[];
  /** What the backend needs to resume its reasoning. */
  readonly signed: string | null;
}

/** A call of a tool as it is so far. */
export interface WrittenCall {
  readonly callId: string;
  readonly tool: OfferedTool;
  readonly text: string;
  readonly extra: unknown;
}

const PREFIXES = { text: 'msg', reasoning: 'rs', call: 'fc', custom: 'ctc', search: 'ws' } as const;

/** The id of an item: that of its response, with its place. */
export function itemId(kind: keyof typeof PREFIXES, responseId: string, index: number): string {
  return `${PREFIXES[kind]}_${responseId.replace(/^[a-z]+[-_]/, '')}${index}`;
}

export const isReasoning = (kind: TextKind): boolean => kind === 'reasoning' || kind === 'summary';

const NO_NOTES = { logprobs: [], citations: [] } as const;

/** The part of an item that contains a text. */
export function partWith(
  kind: TextKind,
  text: string,
  { logprobs, citations }: Pick<WrittenText, 'logprobs' | 'citations'> = NO_NOTES,
): object {
  switch (kind) {
    case 'content':
      return { type: 'output_text', text, annotations: citations, logprobs };
    case 'refusal':
      return { type: 'refusal', refusal: text };
    case 'reasoning':
      return { type: 'reasoning_text', text };
    case 'summary':
      return { type: 'summary_text', text };
  }
}

/** The item of a text; undefined while nothing of it is written. */
export function textItem(id: string, status: ItemStatus, written: WrittenText | { kind: TextKind }): object {
  const { kind } = written;
  const parts = 'text' in written ? [partWith(kind, written.text, written)] : [];
  if (!isReasoning(kind)) return { id, type: 'message', role: 'assistant', status, content: parts };
  const signed = 'text' in written ? written.signed : null;
  const texts = 'text' in written && written.text !== '' ? parts : [];
  const places = kind === 'summary' ? { summary: texts } : { summary: [], content: texts };
  return { id, type: 'reasoning', status, ...places, encrypted_content: signed };
}

export function callItem(id: string, status: ItemStatus, call: WrittenCall): object {
  const { callId, tool, text, extra } = call;
  const { isCustom, ...names } = tool;
  const head = {
    id,
    type: isCustom ? 'custom_tool_call' : 'function_call',
    status,
    call_id: callId,
    ...names,
  };
  if (isCustom) return { ...head, input: text === '' ? '' : inputIn(text) };
  return { ...head, arguments: text, ...(extra !== undefined && extra !== null && { extra_content: extra }) };
}

/** The item of a search by this service; undefined if there was none. */
export function searchItem(
  id: string,
  status: ItemStatus,
  {
    web_search_query: query = '',
    web_search_citations: found,
    enable_web_scraping: reads,
  }: SvcParametersEcho,
): object | undefined {
  if (found.length === 0 || reads) return undefined;
  const sources = found.map(({ url }) => ({ type: 'url', url }));
  return {
    id,
    type: 'web_search_call',
    status,
    action: { type: 'search', query, queries: [query], sources },
  };
}

/** The log probabilities of a text. */
export function logprobsIn(logprobs: Fields | null | undefined): Fields[] {
  return fieldsOf(logprobs?.['content']);
}

import type { SvcParametersEcho } from '@svc/api/chat';
import type { ServiceTier } from '@svc/contracts/money';
import type { DocumentsCall } from '../web/documents-call.js';
import type { ChoicePiece, WholeChoice } from './assembled-choice.js';

/** The metadata of a response. */
export interface CompletionHead {
  readonly id: string;
  readonly model: string;
  /** Estimated. */
  readonly promptTokens: number;
  readonly parameters: SvcParametersEcho;
  /** The tier that the request was served in, if it asked for one. */
  readonly serviceTier?: 'default' | ServiceTier | undefined;
  /** Whether a stream sends usage and cost in a separate chunk. */
  readonly usageApart: boolean;
  /** Whether a stream begins with the web search results. */
  readonly resultsFirst?: boolean;
  /** The web search results as a tool call, if the client requested that. */
  readonly documents?: DocumentsCall | undefined;
}

/** How an endpoint other than chat completions writes a choice, where the rest is the same. */
export interface ChoiceShape {
  /** The `object` of a response and of its events. */
  readonly object: string;
  piece(piece: ChoicePiece): object;
  whole(choice: WholeChoice): object;
}

/**
 * The options in effect, as the end of a response reports them, with the pages cited by a backend that
 * searches by itself. A response without output is not charged, so it does not include the search results.
 */
export function echoOf(
  { parameters }: Pick<CompletionHead, 'parameters'>,
  hasOutput: boolean,
  citedUrls: readonly string[],
): SvcParametersEcho {
  if (!hasOutput) return { ...parameters, web_search_citations: [] };
  if (!parameters.enable_x_search || citedUrls.length === 0) return parameters;
  return { ...parameters, web_search_citations: citedUrls.map((url) => ({ title: titleOf(url), url })) };
}

/** Only the address of such a page is known. */
const titleOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

import type { SvcParametersEcho } from '@svc/contracts';
import type { DocumentsCall } from '../web/documents-call.js';

/** What an answer says of itself beside its choices. */
export interface AnswerHead {
  readonly id: string;
  readonly model: string;
  readonly parameters: SvcParametersEcho;
  /** Whether usage and cost of a stream come in a chunk of their own. */
  readonly usageApart: boolean;
  /** Whether a stream begins with what was found on the web. */
  readonly resultsFirst?: boolean;
  /** What was found on the web as a call, where that is asked for. */
  readonly documents?: DocumentsCall | undefined;
}

/**
 * The options in effect as an answer's end tells them, with the pages that a backend which searched by itself has named. What
 * was found belongs to who pays for it, and nobody pays for an answer without output.
 */
export function echoOf(
  { parameters }: Pick<AnswerHead, 'parameters'>,
  hasOutput: boolean,
  citedUrls: readonly string[],
): SvcParametersEcho {
  if (!hasOutput) return { ...parameters, web_search_citations: [] };
  if (!parameters.enable_x_search || citedUrls.length === 0) return parameters;
  return { ...parameters, web_search_citations: citedUrls.map((url) => ({ title: titleOf(url), url })) };
}

/** Nothing is known of such a page but its address. */
const titleOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

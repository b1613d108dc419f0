import { ExtractionFailed, PageUnread, SearchFailed } from '@svc/contracts/ports';
import { Problem, invalidRequest } from '@svc/contracts/problems';

export function searchFailure(error: unknown): never {
  if (!(error instanceof SearchFailed)) throw error;
  throw new Problem('UNAVAILABLE', {
    message: `The web search failed: ${error.reason}.`,
    cause: error,
  });
}

export function pageFailure(error: unknown): never {
  if (!(error instanceof PageUnread)) throw error;
  throw refusal('url', `The page could not be read: ${error.reason}.`);
}

/** The public interface's messages for these reasons. */
const FILE_MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/\bnot supported\b/, 'Unsupported file type'],
  [/\bholds no text\b|^the file is empty$/, 'No text content could be extracted from the file.'],
];

/** Also accepts a reason as text. */
export function fileFailure(error: unknown): never {
  if (!(error instanceof ExtractionFailed) && typeof error !== 'string') throw error;
  const reason = typeof error === 'string' ? error : error.reason;
  if (error instanceof ExtractionFailed && error.retryable)
    throw new Problem('UNAVAILABLE', { message: `The file could not be read: ${reason}.`, cause: error });
  const known = FILE_MESSAGES.find(([pattern]) => pattern.test(reason))?.[1];
  throw refusal('file', known === undefined ? `The file could not be read: ${reason}.` : known);
}

const refusal = (field: string, message: string): Problem =>
  invalidRequest([{ code: 'custom', path: [field], message }]);

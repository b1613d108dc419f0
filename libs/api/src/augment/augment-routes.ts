import type { RouteDefinition } from '../route/route-definition.js';
import {
  AugmentFile,
  AugmentFileReply,
  AugmentScrape,
  AugmentScrapeReply,
  AugmentSearch,
  AugmentSearchReply,
} from './augment.js';

const terms = {
  method: 'POST',
  tag: 'Web',
  access: 'key-or-wallet',
  status: 200,
  admitted: 'once',
  headers: ['balances'],
  refusals: [
    'INVALID_JSON',
    'INVALID_REQUEST',
    'NOT_AVAILABLE',
    'INSUFFICIENT_BALANCE',
    'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
    'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
    'END_USER_SPEND_LIMIT_EXCEEDED',
    'PAYLOAD_TOO_LARGE',
    'INVALID_CONTENT_TYPE',
    'RATE_LIMIT_EXCEEDED',
  ],
} as const;

/** Web search, page and file reading as routes, for clients that build their own prompts. */
export const augmentRoutes = {
  augmentSearch: {
    ...terms,
    path: '/api/v1/augment/search',
    operationId: 'searchTheWeb',
    summary: 'Searches the web',
    description: 'Charged only if there are results.',
    body: AugmentSearch,
    reply: AugmentSearchReply,
  },
  augmentScrape: {
    ...terms,
    path: '/api/v1/augment/scrape',
    operationId: 'readWebPage',
    summary: 'Reads a web page as Markdown',
    description: 'Charged only if the page can be read. The boilerplate around its main text is left out.',
    body: AugmentScrape,
    reply: AugmentScrapeReply,
  },
  augmentParse: {
    ...terms,
    path: '/api/v1/augment/text-parser',
    operationId: 'readFile',
    summary: 'Reads a file as text',
    description:
      'Charged only if the file contains text. Office files and e-books are converted to Markdown.',
    body: AugmentFile,
    bodyType: 'multipart/form-data',
    // The largest file, plus the rest of the form.
    bodyLimitBytes: 25_065_536,
    reply: AugmentFileReply,
    plainText: true,
  },
} as const satisfies Record<string, RouteDefinition>;

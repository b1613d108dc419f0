import { z } from 'zod';
import { FormFile } from '../route/form-file.js';

/** A web search. */
export const AugmentSearch = z.object({
  query: z.string().trim().min(1).max(400),
  limit: z.int().min(1).max(20).default(10).describe('The maximum number of results.'),
  search_provider: z
    .enum(['brave', 'google'])
    .nullish()
    .describe('Accepted but not used: the operator chooses the search provider.'),
});

export const AugmentSearchReply = z.object({
  query: z.string(),
  results: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      content: z.string(),
      date: z.string().describe('In UTC, such as `2025-04-16 16:55:11`; empty if unknown.'),
    }),
  ),
});

/** A page to read. */
export const AugmentScrape = z.object({ url: z.string().min(1).max(2_048) });

export const AugmentScrapeReply = z.object({
  url: z.string().describe('The URL of the page after redirects.'),
  content: z.string(),
  format: z.literal('markdown'),
});

/** A file to read, as a form. */
export const AugmentFile = z.object({
  file: FormFile.describe('PDF, DOCX, PPTX, XLSX, XLS, EPUB or any kind of text, at most 25 MB.'),
  response_format: z
    .enum(['json', 'text'])
    .default('json')
    .describe('`text` returns only the text, as `text/plain`.'),
});

export const AugmentFileReply = z.object({
  text: z.string(),
  tokens: z.int().nonnegative().describe('The estimated number of tokens, at 3.2 characters per token.'),
});

export type AugmentFile = z.infer<typeof AugmentFile>;
export type AugmentFileReply = z.infer<typeof AugmentFileReply>;
export type AugmentSearch = z.infer<typeof AugmentSearch>;
export type AugmentSearchReply = z.infer<typeof AugmentSearchReply>;
export type AugmentScrape = z.infer<typeof AugmentScrape>;
export type AugmentScrapeReply = z.infer<typeof AugmentScrapeReply>;

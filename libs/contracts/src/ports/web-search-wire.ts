import { z } from 'zod';
import { SearchFailed, type WebQuery, type WebResults } from './web-search.js';

export const QUERY_CHARACTERS = 400;
export const PAGES_PER_SEARCH = 20;

/** A call of `search` on the wire. */
export const WebQueryOnWire: z.ZodType<WebQuery> = z.object({
  accountId: z.string().min(1).max(300),
  text: z.string().min(1).max(QUERY_CHARACTERS),
  count: z.int().min(1).max(PAGES_PER_SEARCH),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .optional(),
});

const FoundPage = z.object({
  title: z.string(),
  url: z.string(),
  content: z.string(),
  publishedAt: z.string().optional(),
});

/** The response of `search`: the results, or why there are none. */
export const WebResultsReply = z.union([
  z.object({ provider: z.string(), pages: z.array(FoundPage) }),
  z.object({ failed: z.string() }),
]);
export type WebResultsReply = z.infer<typeof WebResultsReply>;

/** Rethrows any error but SearchFailed. */
export async function encodeResults(search: Promise<WebResults>): Promise<WebResultsReply> {
  try {
    const { provider, pages } = await search;
    return { provider, pages: [...pages] };
  } catch (error) {
    if (!(error instanceof SearchFailed)) throw error;
    return { failed: error.reason };
  }
}

/** The result of the port. Throws SearchFailed if the response contains one. */
export function decodeResults(reply: WebResultsReply): WebResults {
  if ('failed' in reply) throw new SearchFailed(reply.failed);
  const pages = reply.pages.map(({ publishedAt, ...page }) =>
    publishedAt === undefined ? page : { ...page, publishedAt },
  );
  return { provider: reply.provider, pages };
}

import { z } from 'zod';
import { type KeyedTerms, type Provider, pagesIn } from './provider.js';

/** The most results per page. */
const COUNT_AT_MOST = 10;

interface EngineTerms extends KeyedTerms {
  /** The id of a search engine created in Google's console. */
  readonly engineId: string;
}

/** The metadata of a page, with its publication date. */
const PageMap = z.object({
  metatags: z.array(z.record(z.string(), z.unknown())).min(1),
});

/** Google Programmable Search: `GET /customsearch/v1`. */
export function google({
  name,
  deadlineMs,
  url,
  key,
  engineId,
  region: own,
  language,
}: EngineTerms): Provider {
  return {
    name,
    deadlineMs,
    request: ({ text, count, country: region = own }) => {
      const query = new URLSearchParams({
        cx: engineId,
        q: text,
        num: String(Math.min(count, COUNT_AT_MOST)),
        ...(region && { gl: region.toLowerCase() }),
        ...(language && { lr: `lang_${language}` }),
      });
      return {
        method: 'GET',
        url: `${url ?? 'https://customsearch.googleapis.com'}/customsearch/v1?${query.toString()}`,
        // As a header, since URLs may be logged on the way.
        headers: { 'x-goog-api-key': key },
      };
    },
    read: (response) =>
      pagesIn(response, ['items']).map(({ title, link, snippet, pagemap }) => ({
        title,
        url: link,
        content: snippet,
        date: publishedIn(pagemap),
      })),
  };
}

function publishedIn(pagemap: unknown): unknown {
  const read = PageMap.safeParse(pagemap);
  const [first] = read.success ? read.data.metatags : [];
  return first?.['article:published_time'] ?? first?.['og:updated_time'] ?? first?.['date'];
}

import { type Provider, pagesIn } from './provider.js';

interface SearxngTerms {
  readonly name: string;
  readonly deadlineMs: number;
  /** Its URL; may include a path. */
  readonly url: string;
  readonly region?: string | undefined;
  readonly language?: string | undefined;
}

/**
 * SearXNG, and the search simulator, which uses the same JSON: `GET /search?format=json`, all engines on the
 * first page.
 */
export function searxng({ name, deadlineMs, url, region: own, language }: SearxngTerms): Provider {
  return {
    name,
    deadlineMs,
    request: ({ text, country: region = own }) => {
      // Its language codes are `de` or `de-AT`.
      const locale = language && (region ? `${language}-${region}` : language);
      const query = new URLSearchParams({ q: text, format: 'json', ...(locale && { language: locale }) });
      return { method: 'GET', url: `${url.replace(/\/$/, '')}/search?${query.toString()}` };
    },
    read: (response) =>
      pagesIn(response, ['results']).map((page) => ({
        title: page['title'],
        url: page['url'],
        content: page['content'],
        date: page['publishedDate'] ?? page['pubdate'],
      })),
  };
}

import { type KeyedTerms, type Provider, pagesIn } from './provider.js';

/** Exa: `POST /search`, with the part of each page that fits the query. */
export function exa({ name, deadlineMs, url, key, region: own }: KeyedTerms): Provider {
  return {
    name,
    deadlineMs,
    request: ({ text, count, country: region = own }) => ({
      method: 'POST',
      url: `${url ?? 'https://api.exa.ai'}/search`,
      headers: { 'x-api-key': key },
      body: JSON.stringify({
        query: text,
        numResults: count,
        type: 'auto',
        contents: { highlights: true },
        ...(region && { userLocation: region }),
      }),
    }),
    read: (response) =>
      pagesIn(response, ['results']).map(
        ({ title, url: address, highlights, text, publishedDate: date }) => ({
          title,
          url: address,
          content: Array.isArray(highlights)
            ? (highlights as unknown[]).filter((each) => typeof each === 'string').join(' … ')
            : text,
          date,
        }),
      ),
  };
}

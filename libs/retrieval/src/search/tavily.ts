import { type KeyedTerms, type Provider, pagesIn } from './provider.js';

const COUNT_AT_MOST = 20;

/** Tavily: `POST /search`. Its countries are names such as `austria`. */
export function tavily({ name, deadlineMs, url, key, region: own }: KeyedTerms): Provider {
  return {
    name,
    deadlineMs,
    request: ({ text, count, country: region = own }) => ({
      method: 'POST',
      url: `${url ?? 'https://api.tavily.com'}/search`,
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        query: text,
        max_results: Math.min(count, COUNT_AT_MOST),
        search_depth: 'basic',
        ...(region && { country: nameOf(region) }),
      }),
    }),
    read: (response) =>
      pagesIn(response, ['results']).map(({ title, url: address, content, published_date: date }) => ({
        title,
        url: address,
        content,
        date,
      })),
  };
}

const nameOf = (region: string): string | undefined =>
  new Intl.DisplayNames('en', { type: 'region' }).of(region)?.toLowerCase();

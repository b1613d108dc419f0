import type { FastifyInstance } from 'fastify';
import { ApiError } from '../http/api-error.js';
import { type BuiltInPage, PAGES, SIMULATED } from './pages.js';

/** The used members of SearXNG's response to `GET /search?format=json`. */
interface SearchResponse {
  readonly query: string;
  readonly number_of_results: number;
  readonly results: readonly object[];
  readonly responses: readonly never[];
  readonly corrections: readonly never[];
  readonly infoboxes: readonly never[];
  readonly suggestions: readonly never[];
  readonly unresponsive_engines: readonly never[];
}

/** Serves a search engine with SearXNG's JSON format and a few built-in pages, and the pages themselves. */
export function addSearchRoutes(app: FastifyInstance): void {
  app.get<{ Querystring: { q?: string; format?: string } }>('/search', ({ query, host }) => {
    // Like SearXNG for a format that its settings do not allow.
    if (query.format !== 'json') throw new ApiError(403, 'The search simulator speaks JSON only.');
    if (!query.q) throw new ApiError(400, 'No query.');
    return answerOf(query.q, `http://${host}`);
  });
  app.get<{ Params: { slug: string } }>('/pages/:slug', ({ params }, reply) => {
    const found = PAGES.find(({ slug }) => slug === params.slug);
    if (!found) throw new ApiError(404, 'There is no such page.');
    return reply.type('text/html; charset=utf-8').send(htmlOf(found));
  });
}

function answerOf(query: string, base: string): SearchResponse {
  const words = wordsOf(query);
  const scored = PAGES.map((page) => ({ page, score: scoreOf(page, words) }));
  const results = scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ page, score }) => ({
      url: `${base}/pages/${page.slug}`,
      title: page.title,
      content: `${SIMULATED} ${page.text}`,
      publishedDate: page.publishedDate,
      engine: 'simulator',
      template: 'default.html',
      category: 'general',
      score,
    }));
  return {
    query,
    number_of_results: results.length,
    results,
    responses: [],
    corrections: [],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: [],
  };
}

/** The words of at least three letters, and the numbers, of a text. */
function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/\p{L}{3,}|\p{N}+/gu));
}

/**
 * The number of query words on a page; words in the title count more. Every page has a small score for any
 * query.
 */
function scoreOf({ title, text }: BuiltInPage, words: ReadonlySet<string>): number {
  const [inTitle, inText] = [wordsOf(title), wordsOf(text)];
  let score = 0.1;
  for (const word of words) score += (inTitle.has(word) ? 3 : 0) + (inText.has(word) ? 1 : 0);
  return score;
}

function htmlOf({ title, text }: BuiltInPage): string {
  const escaped = (plain: string): string => plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html><html lang="en"><head><title>${escaped(title)}</title></head><body><main><h1>${escaped(title)}</h1><p>${escaped(SIMULATED)}</p><p>${escaped(text)}</p></main></body></html>`;
}

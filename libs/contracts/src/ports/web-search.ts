/** What is looked for on the web. */
export interface WebQuery {
  /** On whose behalf. */
  readonly accountId: string;
  /** Words for a search engine, 400 characters at most. */
  readonly text: string;
  /** The most pages to find, 20 at most. */
  readonly count: number;
}

/** A page as a search engine tells of it: plain text of strangers, without markup. */
export interface FoundPage {
  readonly title: string;
  readonly url: string;
  /** What it says about the query; may be empty. */
  readonly content: string;
  /** ISO 8601 in UTC. */
  readonly publishedAt?: string;
}

export interface WebResults {
  /** The provider's name in the catalogue, by which the search is priced. */
  readonly provider: string;
  /** The best first, each page once; empty where nothing was found. */
  readonly pages: readonly FoundPage[];
}

/** No provider gave an answer. */
export class SearchFailed extends Error {
  override readonly name = 'SearchFailed';

  /** @param reason Plain words for the client, a clause without a full stop: `no search provider answered`. */
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}

/** Searches the web. A call has a deadline of its own, and an abort of the signal ends it at once. */
export abstract class WebSearch {
  /** Throws SearchFailed. */
  abstract search(query: WebQuery, signal?: AbortSignal): Promise<WebResults>;
}

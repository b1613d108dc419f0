/** A web search. */
export interface WebQuery {
  /** The account that searches. */
  readonly accountId: string;
  /** Words for a search engine, at most 400 characters. */
  readonly text: string;
  /** The most pages to find, at most 20. */
  readonly count: number;
  /** Where the user is: the two capital letters of a country. By default as the provider's entry has it. */
  readonly country?: string;
}

/** A search result: untrusted plain text, without markup. */
export interface FoundPage {
  readonly title: string;
  readonly url: string;
  /** Its text about the query; may be empty. */
  readonly content: string;
  /** ISO 8601 in UTC. */
  readonly publishedAt?: string;
}

export interface WebResults {
  /** The provider's name in the catalogue, which determines the price. */
  readonly provider: string;
  /** The best first, each page once; empty if nothing was found. */
  readonly pages: readonly FoundPage[];
}

/** No provider responded. */
export class SearchFailed extends Error {
  override readonly name = 'SearchFailed';

  /**
   * @param reason Plain words for the client, a clause without a full stop: `no search provider responded`.
   */
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}

/** Searches the web. Each call has its own deadline, and an abort of the signal ends it at once. */
export abstract class WebSearch {
  /** Throws SearchFailed. */
  abstract search(query: WebQuery, signal?: AbortSignal): Promise<WebResults>;
}

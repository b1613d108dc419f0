/** A page that somebody wants to be read. */
export interface PageRequest {
  /** On whose behalf: accounts take turns. */
  readonly accountId: string;
  readonly url: string;
}

/** What a page says: text of strangers. */
export interface WebPage {
  /** Where it was found, after redirects. */
  readonly url: string;
  readonly title: string;
  /** Markdown, or plain text of what is no page. */
  readonly text: string;
  /** ISO 8601 in UTC. */
  readonly publishedAt?: string;
}

/** A page was not read. */
export class PageUnread extends Error {
  override readonly name = 'PageUnread';

  /** @param reason Plain words for the client, a clause without a full stop: `it took too long`. */
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}

/** Reads pages of the web. A call has a deadline of its own, and an abort of the signal ends it at once. */
export abstract class WebPages {
  /** Throws PageUnread. */
  abstract read(request: PageRequest, signal?: AbortSignal): Promise<WebPage>;
}

/** A page to read. */
export interface PageRequest {
  /** The account it is read for: accounts take turns. */
  readonly accountId: string;
  readonly url: string;
}

/** The content of a page, which is untrusted. */
export interface WebPage {
  /** The final URL, after redirects. */
  readonly url: string;
  readonly title: string;
  /** Markdown, or the plain text of a document that is not HTML. */
  readonly text: string;
  /** ISO 8601 in UTC. */
  readonly publishedAt?: string;
}

/** A page could not be read. */
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

/** Reads web pages. Each call has its own deadline, and an abort of the signal ends it at once. */
export abstract class WebPages {
  /** Throws PageUnread. */
  abstract read(request: PageRequest, signal?: AbortSignal): Promise<WebPage>;
}

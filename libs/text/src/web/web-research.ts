import { Injectable } from '@nestjs/common';
import { type ChargeLine, chargeLine } from '@svc/contracts/messages';
import { type FoundPage, PageUnread, SearchFailed, WebPages, WebSearch } from '@svc/contracts/ports';
import type { SvcParametersEcho } from '@svc/api/chat';
import { RootLogger } from '@svc/runtime';
import { pagesBlock } from './pages-block.js';
import type { PagesPlan, SearchPlan, WebPlan } from './web-plan.js';

/** The findings for a response. */
export interface Findings {
  /** For the system prompt; empty without findings. */
  readonly instructions: string;
  /** Text to put before the last user message; empty without findings. */
  readonly block: string;
  readonly purchases: readonly ChargeLine[];
  /** The part of the options' echo about the findings. */
  readonly echo: Pick<
    SvcParametersEcho,
    'web_search_citations' | 'web_search_query' | 'web_search_error' | 'web_scraping_errors'
  >;
  /** The number of sources that the response may cite; undefined if citations were not requested. */
  readonly sources: number | undefined;
}

/** The request and account that research is done for. */
export interface Researcher {
  readonly requestId: string;
  readonly accountId: string;
}

/**
 * Gets what a request needs from the web. A failure never fails the response, which continues without
 * findings.
 */
@Injectable()
export class WebResearch {
  constructor(
    private readonly web: WebSearch,
    private readonly pages: WebPages,
    private readonly logger: RootLogger,
  ) {}

  /** Throws only the signal's reason. */
  find(plan: WebPlan, researcher: Researcher, signal: AbortSignal): Promise<Findings | undefined> {
    switch (plan.kind) {
      case 'search':
        return this.search(plan, researcher, signal);
      case 'offer':
        // The model has not requested it yet.
        return Promise.resolve(undefined);
      case 'pages':
        return this.read(plan, researcher, signal);
      case 'native':
        // The backend searches during its response.
        return Promise.resolve(native(chargeLine(plan.price, 1)));
    }
  }

  /** Makes a search. Throws only the signal's reason. */
  async search(
    plan: SearchPlan,
    { requestId, accountId }: Researcher,
    signal: AbortSignal,
  ): Promise<Findings> {
    const { query, count, country, skipped = 'there is nothing to search for' } = plan;
    if (query === undefined) return without(plan, skipped);
    try {
      const { provider, pages } = await this.web.search(
        { accountId, text: query, count, ...(country !== undefined && { country }) },
        signal,
      );
      if (pages.length === 0) return without(plan, 'nothing was found');
      return found(plan, pages, chargeLine(plan.prices.of(provider), 1));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SearchFailed) return without(plan, error.reason);
      this.logger.log.error({ err: error, requestId }, 'a search failed');
      return without(plan, 'the search failed');
    }
  }

  private async read(plan: PagesPlan, researcher: Researcher, signal: AbortSignal): Promise<Findings> {
    const { urls, skipped } = plan;
    const read =
      skipped === undefined
        ? await Promise.all(urls.map((url) => this.readOne(url, researcher, signal)))
        : urls.map((url) => ({ url, error: skipped }));
    return readPages(plan, read);
  }

  private async readOne(
    url: string,
    { requestId, accountId }: Researcher,
    signal: AbortSignal,
  ): Promise<FoundPage | Unread> {
    try {
      const { text, ...page } = await this.pages.read({ accountId, url }, signal);
      return { ...page, content: text };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof PageUnread) return { url, error: error.reason };
      this.logger.log.error({ err: error, requestId }, 'a page could not be read');
      return { url, error: 'it could not be read' };
    }
  }
}

/** A page that could not be read. */
interface Unread {
  readonly url: string;
  readonly error: string;
}

/** Clients are shown only the beginning of a page. */
const SHOWN_CHARACTERS = 500;

function readPages(plan: PagesPlan, read: readonly (FoundPage | Unread)[]): Findings {
  const { cites, tokensAtMost: budgetTokens, price } = plan;
  const pages = read.filter((each) => 'content' in each);
  const unread = read.filter((each) => 'error' in each);
  const lines = unread.map(({ url, error }) => `${url} could not be read: ${error}.`);
  const block = pagesBlock(pages, { budgetTokens, cites, now: new Date(), of: 'pages', unread: lines });
  const shown = block.pages.map((page) => ({
    ...page,
    content: page.content.slice(0, SHOWN_CHARACTERS).toWellFormed(),
  }));
  const isReported = block.pages.length > 0 || (unread.length > 0 && plan.skipped === undefined);
  return {
    instructions: isReported ? block.instructions : '',
    block: isReported ? block.text : '',
    purchases: block.pages.length > 0 ? [chargeLine(price, block.pages.length)] : [],
    echo: {
      web_search_citations: shown.map(citationOf),
      ...(unread.length > 0 && { web_scraping_errors: unread }),
    },
    sources: cites ? block.pages.length : undefined,
  };
}

function found(plan: SearchPlan, pages: readonly FoundPage[], purchase: ChargeLine): Findings {
  const { cites, tokensAtMost: budgetTokens, query, calledBy } = plan;
  const isOfCall = calledBy !== undefined;
  const block = pagesBlock(pages, { budgetTokens, cites, now: new Date(), of: 'results', isOfCall });
  if (block.pages.length === 0) return without(plan, 'the conversation leaves no room for results');
  return {
    instructions: block.instructions,
    block: block.text,
    purchases: [purchase],
    echo: {
      web_search_citations: block.pages.map(citationOf),
      ...(query !== undefined && { web_search_query: query }),
    },
    sources: cites ? block.pages.length : undefined,
  };
}

/** A search that the backend makes as part of its response, and that is charged with it. */
function native(purchase: ChargeLine): Findings {
  return {
    instructions: '',
    block: '',
    purchases: [purchase],
    echo: { web_search_citations: [] },
    sources: undefined,
  };
}

/** The findings of a response without a search, with the reason. */
export function without({ cites, query }: SearchPlan, reason: string): Findings {
  const echo = {
    web_search_citations: [],
    ...(query !== undefined && { web_search_query: query }),
    web_search_error: `Answered without a search: ${reason}.`,
  };
  return { instructions: '', block: '', purchases: [], echo, sources: cites ? 0 : undefined };
}

function citationOf({
  title,
  url,
  content,
  publishedAt,
}: FoundPage): SvcParametersEcho['web_search_citations'][number] {
  const date = citationDate(publishedAt);
  return { title, url, content, ...(date !== undefined && { date }) };
}

/** Formats a date as `2025-04-16 16:55:11`, in UTC. */
export function citationDate(publishedAt: string | undefined): string | undefined {
  return publishedAt?.slice(0, 19).replace('T', ' ');
}

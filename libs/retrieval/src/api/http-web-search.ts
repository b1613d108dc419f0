import {
  SearchFailed,
  type WebQuery,
  type WebResults,
  WebResultsReply,
  WebSearch,
  decodeResults,
  routes,
} from '@svc/contracts';
import type { Catalog, InternalClient } from '@svc/runtime';
import { workerReply } from './worker-reply.js';

/** Beyond the search, what the way there and back may take. */
const MARGIN_MS = 2_000;

/** What all providers together may take where the catalogue here does not say. */
const DEADLINE_MS = 8_000;

/** The web is searched by another process. A search is not asked for twice: the first one may have been paid for. */
export class HttpWebSearch extends WebSearch {
  constructor(
    private readonly client: InternalClient,
    private readonly catalog: Catalog,
  ) {
    super();
  }

  override async search(query: WebQuery, signal?: AbortSignal): Promise<WebResults> {
    const call = {
      path: routes.searchWeb.path,
      body: JSON.stringify(query),
      deadlineMs: (this.catalog.search?.deadlineMs ?? DEADLINE_MS) + MARGIN_MS,
      ...(signal && { signal }),
    };
    const reply = await workerReply(this.client, call, (cause) => new SearchFailed(AWAY, { cause }));
    return decodeResults(WebResultsReply.parse(reply));
  }
}

const AWAY = 'the web can not be searched at the moment';

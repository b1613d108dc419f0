import type { Catalog } from '@svc/catalog';
import {
  SearchFailed,
  type WebQuery,
  type WebResults,
  WebResultsReply,
  WebSearch,
  decodeResults,
} from '@svc/contracts/ports';
import { routes } from '@svc/api';
import type { InternalClient } from '@svc/runtime';
import { workerReply } from './worker-reply.js';

/** Time for the transfer, beyond the search. */
const MARGIN_MS = 2_000;

/** The deadline of all providers together, if the local catalogue sets none. */
const DEADLINE_MS = 8_000;

/** Searches the web in another process. A search is not retried: the first one may have been paid for. */
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

const AWAY = 'the web cannot be searched at the moment';

import {
  type PageRequest,
  PageUnread,
  type WebPage,
  WebPageReply,
  WebPages,
  decodePage,
} from '@svc/contracts/ports';
import { routes } from '@svc/api';
import type { InternalClient } from '@svc/runtime';
import type { RetrievalClientConfig } from '../retrieval.config.js';
import { workerReply } from './worker-reply.js';

/** Time for the transfer, beyond reading the page. */
const MARGIN_MS = 2_000;

/** Reads pages in another process. */
export class HttpWebPages extends WebPages {
  constructor(
    private readonly client: InternalClient,
    private readonly settings: Pick<RetrievalClientConfig, 'RETRIEVAL_PAGE_TIMEOUT_MS'>,
  ) {
    super();
  }

  override async read(request: PageRequest, signal?: AbortSignal): Promise<WebPage> {
    const call = {
      path: routes.readPage.path,
      body: JSON.stringify(request),
      deadlineMs: this.settings.RETRIEVAL_PAGE_TIMEOUT_MS + MARGIN_MS,
      idempotent: true,
      ...(signal && { signal }),
    };
    const reply = await workerReply(this.client, call, (cause) => new PageUnread(AWAY, { cause }));
    return decodePage(WebPageReply.parse(reply));
  }
}

const AWAY = 'pages cannot be read at the moment';

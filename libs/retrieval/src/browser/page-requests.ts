import type { GuardedFetcher } from '@svc/guarded-fetch';

/** A request of a page, paused until it gets a response. */
export interface PausedRequest {
  readonly requestId: string;
  readonly resourceType: string;
  readonly request: {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

/** The response to a request: a method of the DevTools protocol and its parameters. */
interface Reply {
  readonly method: 'Fetch.fulfillRequest' | 'Fetch.failRequest';
  readonly params: Record<string, unknown>;
}

/** The page itself, as fetched. */
export interface FetchedDocument {
  readonly url: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

export interface RequestBounds {
  /** The most bytes of everything that the page's scripts request. */
  readonly totalBytes: number;
  readonly timeoutMs: number;
}

const REQUESTS_AT_MOST = 80;
const AT_ONCE = 8;

/** The largest resource of a page; it is sent to the browser as one message. */
const RESOURCE_BYTES = 3_000_000;

/** Resources that can produce text: scripts, and their requests. Images, fonts, frames and sockets can't. */
const FETCHED = new Set(['Script', 'XHR', 'Fetch']);

/**
 * Responds to the requests of a page: the page itself with its fetched content, scripts and data by the
 * guarded fetcher, everything else with an error. The browser itself never reaches a network.
 */
export class PageRequests {
  private requestCount = 0;
  private underWay = 0;
  private bytes = 0;
  private isDocumentGiven = false;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly document: FetchedDocument,
    private readonly fetcher: GuardedFetcher,
    private readonly bounds: RequestBounds,
  ) {}

  /** Whether no fetch is in progress. */
  get isIdle(): boolean {
    return this.underWay === 0;
  }

  /** Never throws. */
  async reply(paused: PausedRequest, signal: AbortSignal): Promise<Reply> {
    const { requestId, resourceType, request } = paused;
    if (resourceType === 'Document') return this.documentReply(requestId, request.url);
    if (resourceType === 'Stylesheet') return fulfilled(requestId, 'text/css', {});
    const headers = allowing(request.headers);
    if (request.method === 'OPTIONS') return fulfilled(requestId, 'text/plain', { headers });
    this.requestCount += 1;
    if (!FETCHED.has(resourceType) || request.method !== 'GET' || this.requestCount > REQUESTS_AT_MOST)
      return refused(requestId);
    this.underWay += 1;
    try {
      await this.turn();
      return await this.fetched(requestId, request.url, { headers, signal });
    } catch {
      // A page must not learn why a request failed.
      return refused(requestId);
    } finally {
      this.underWay -= 1;
      this.waiting.shift()?.();
    }
  }

  /** The limit is reserved before the fetch, since others run at the same time. */
  private async fetched(
    requestId: string,
    url: string,
    { headers, signal }: { headers: Record<string, string>; signal: AbortSignal },
  ): Promise<Reply> {
    const limitBytes = Math.min(this.bounds.totalBytes - this.bytes, RESOURCE_BYTES);
    if (limitBytes <= 0 || signal.aborted) return refused(requestId);
    this.bytes += limitBytes;
    let unused = limitBytes;
    try {
      const limits = { limitBytes, timeoutMs: this.bounds.timeoutMs, signal };
      const { bytes, contentType } = await this.fetcher.fetch(url, limits);
      unused -= bytes.length;
      return fulfilled(requestId, contentType, { bytes, headers });
    } finally {
      this.bytes -= unused;
    }
  }

  /** A page is loaded once; navigations by its scripts are blocked. */
  private documentReply(requestId: string, url: string): Reply {
    const { url: own, contentType, bytes } = this.document;
    // `Aborted` keeps the current page; `BlockedByClient` would show the browser's error page.
    if (this.isDocumentGiven || url !== own) return refused(requestId, 'Aborted');
    this.isDocumentGiven = true;
    return fulfilled(requestId, contentType || 'text/html', { bytes });
  }

  private async turn(): Promise<void> {
    if (this.underWay <= AT_ONCE) return;
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve);
    });
  }
}

interface Content {
  readonly bytes?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An untrusted page in its own context has no secrets to protect from other origins. */
function allowing(headers: Readonly<Record<string, string>>): Record<string, string> {
  const origin = headers['Origin'] ?? headers['origin'] ?? '*';
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-headers': headers['Access-Control-Request-Headers'] ?? '*',
    'access-control-allow-methods': 'GET',
    ...(origin !== '*' && { 'access-control-allow-credentials': 'true' }),
  };
}

function fulfilled(requestId: string, contentType: string, content: Content): Reply {
  const all = { 'content-type': contentType, ...content.headers };
  const responseHeaders = Object.entries(all)
    .filter(([, value]) => /^[\x20-\x7e]+$/.test(value))
    .map(([name, value]) => ({ name, value }));
  const body = content.bytes?.toString('base64') ?? '';
  const params = { requestId, responseCode: 200, responseHeaders, body };
  return { method: 'Fetch.fulfillRequest', params };
}

const refused = (requestId: string, errorReason = 'BlockedByClient'): Reply => ({
  method: 'Fetch.failRequest',
  params: { requestId, errorReason },
});

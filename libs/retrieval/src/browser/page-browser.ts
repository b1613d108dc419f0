import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedFetcher } from '@svc/guarded-fetch';
import { type BrowserEvent, BrowserFailed, DevTools } from './devtools.js';
import {
  type FetchedDocument,
  PageRequests,
  type PausedRequest,
  type RequestBounds,
} from './page-requests.js';

/** The time to connect to a browser, and the time beyond scripts for everything else. */
const CONNECT_MS = 3_000;
const MARGIN_MS = 4_000;

/** A page is complete when it has made no requests for this long. */
const QUIET_MS = 400;
const LOOK_MS = 50;

/** Limits of the rendered HTML. */
const HTML_CHARACTERS = 2_000_000;
const HTML_MS = 2_000;

/**
 * Nothing listens here. All traffic that bypasses request interception ends here, including sockets and
 * preconnects.
 */
const NOWHERE = 'socks5://127.0.0.1:9';

/** Removes peer connections, which bypass requests and proxies. */
const WITHOUT_PEERS = `for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport', 'ServiceWorkerContainer'])
  delete globalThis[name];`;

export interface PageBrowserSettings {
  /** The DevTools address of a Chromium, such as `http://host:9222`. */
  readonly url: string;
  /** How long a page's scripts may run. */
  readonly scriptsMs: number;
  readonly bounds: RequestBounds;
}

/**
 * Renders pages with their scripts, in a Chromium of the operator: each in its own context, with no network
 * except the guarded fetcher, and without downloads, workers, frames and windows.
 */
export class PageBrowser {
  constructor(
    private readonly fetcher: GuardedFetcher,
    private readonly settings: PageBrowserSettings,
  ) {}

  /** The HTML of a page after its scripts have run. Throws BrowserFailed, or the signal's reason. */
  async html(document: FetchedDocument, signal: AbortSignal): Promise<string> {
    const { url, bounds, scriptsMs } = this.settings;
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(scriptsMs + MARGIN_MS)]);
    const devtools = await DevTools.connect(url, AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]));
    // All pending calls then fail. The context is disposed of with its connection, whatever its page does.
    const leave = (): void => devtools.close();
    either.addEventListener('abort', leave, { once: true });
    try {
      const requests = new PageRequests(document, this.fetcher, bounds);
      const page = await OpenPage.open(devtools, requests, either);
      return await page.show(document.url, scriptsMs);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof BrowserFailed ? error : new BrowserFailed('the page failed', { cause: error });
    } finally {
      ended.abort();
    }
  }
}

interface PageIds {
  readonly sessionId: string;
  /** The main frame of the page. */
  readonly frameId: string;
}

/** A page in its own context. */
class OpenPage {
  private isShown = false;
  private isRead = false;

  private constructor(
    private readonly devtools: DevTools,
    private readonly ids: PageIds,
    private readonly requests: PageRequests,
  ) {}

  static async open(devtools: DevTools, requests: PageRequests, signal: AbortSignal): Promise<OpenPage> {
    const { browserContextId } = await devtools.send('Target.createBrowserContext', {
      disposeOnDetach: true,
      proxyServer: NOWHERE,
      // Without it, this machine would be reached without the proxy.
      proxyBypassList: '<-loopback>',
    });
    await devtools.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId });
    const { targetId } = await devtools.send('Target.createTarget', { url: 'about:blank', browserContextId });
    const { sessionId } = await devtools.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new OpenPage(
      devtools,
      { sessionId: String(sessionId), frameId: String(targetId) },
      requests,
    );
    const onEvent: typeof devtools.onEvent = (event) => page.handle(event, signal);
    devtools.onEvent = onEvent;
    const send = (method: string, params: Record<string, unknown> = {}): Promise<unknown> =>
      devtools.send(method, params, page.ids.sessionId);
    await Promise.all([
      send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
      send('Network.enable'),
      send('Network.setBypassServiceWorker', { bypass: true }),
      send('Page.enable'),
      send('Page.addScriptToEvaluateOnNewDocument', { source: WITHOUT_PEERS }),
      // Workers, out-of-process frames and windows stay paused forever.
      send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
    ]);
    return page;
  }

  /** Shows the page until it is quiet, and returns its HTML. */
  async show(url: string, scriptsMs: number): Promise<string> {
    const endMs = performance.now() + scriptsMs;
    await this.send('Page.navigate', { url });
    let busyMs = performance.now();
    while (performance.now() < Math.min(endMs, busyMs + QUIET_MS)) {
      await sleep(LOOK_MS);
      if (!this.isRead || !this.requests.isIdle) busyMs = performance.now();
    }
    return this.html();
  }

  /** In an isolated world that the page's scripts can't modify. */
  private async html(): Promise<string> {
    const { executionContextId } = await this.send('Page.createIsolatedWorld', {
      frameId: this.ids.frameId,
    });
    const { result } = await this.send('Runtime.evaluate', {
      expression: `document.documentElement.outerHTML.slice(0, ${HTML_CHARACTERS})`,
      contextId: executionContextId,
      returnByValue: true,
      timeout: HTML_MS,
    });
    const { value } = result as { value?: unknown };
    if (typeof value !== 'string') throw new BrowserFailed('the page has nothing to show');
    return value;
  }

  private handle({ method, params, sessionId }: BrowserEvent, signal: AbortSignal): void {
    if (sessionId !== this.ids.sessionId) return;
    if (method === 'Fetch.requestPaused') {
      const paused = params as unknown as PausedRequest;
      // It never throws.
      void this.requests.reply(paused, signal).then((reply) => this.notify(reply.method, reply.params));
    } else if (method === 'Page.frameNavigated') this.isShown = true;
    // If scripts navigate and the navigation is blocked, there is no event for a complete document.
    else if (method === 'Page.domContentEventFired' || method === 'Page.frameStoppedLoading')
      this.isRead ||= this.isShown && (params['frameId'] ?? this.ids.frameId) === this.ids.frameId;
    else if (method === 'Page.javascriptDialogOpening')
      this.notify('Page.handleJavaScriptDialog', { accept: false });
    else if (method === 'Target.attachedToTarget') {
      const { targetId, type } = params['targetInfo'] as { targetId: string; type: string };
      if (type === 'page') this.notify('Target.closeTarget', { targetId });
    }
  }

  /** If the command can't be sent, its result is no longer needed. */
  private notify(method: string, params: Record<string, unknown>): void {
    void this.send(method, params).catch(() => undefined);
  }

  private send(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    return this.devtools.send(method, params, this.ids.sessionId);
  }
}

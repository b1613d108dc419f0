import { setTimeout as sleep } from 'node:timers/promises';
import {
  type PageRequest,
  PageUnread,
  type Retrieval,
  type WebPage,
  WebPages,
  ExtractionFailed,
} from '@svc/contracts/ports';
import { FetchRefused, type FetchedFile, type GuardedFetcher } from '@svc/guarded-fetch';
import { type JobCaller, JobFailed } from '@svc/threads';
import { LRUCache } from 'lru-cache';
import { BrowserFailed } from '../browser/devtools.js';
import type { PageBrowser } from '../browser/page-browser.js';
import { dateOf } from '../search/found-pages.js';
import { ReadingPlaces } from './reading-places.js';
import type { PageJob, PageMarkdown } from './page-markdown.js';
import { RobotRules } from './robots.js';

export interface WebPagesSettings {
  readonly RETRIEVAL_PAGE_LIMIT_BYTES: number;
  readonly RETRIEVAL_PAGE_TIMEOUT_MS: number;
  readonly RETRIEVAL_PAGES_AT_ONCE: number;
  readonly RETRIEVAL_HOST_PAUSE_MS: number;
  readonly RETRIEVAL_ROBOTS: 'respect' | 'ignore';
  readonly RETRIEVAL_BLOCKED_HOSTS: string;
  readonly RETRIEVAL_BROWSER_PAGES: number;
}

/** Reads a page in a thread. */
export interface PageReader {
  readPage(job: PageJob, reading: JobCaller): Promise<PageMarkdown>;
}

interface Neighbours {
  readonly fetcher: GuardedFetcher;
  readonly reader: PageReader;
  /** Reads documents that are not HTML. */
  readonly files: Retrieval;
  /** Runs the scripts of pages that have no text without them. */
  readonly browser?: PageBrowser | undefined;
}

/** More than any model gets of a page. */
const PAGE_CHARACTERS = 400_000;

/** The most pages that may wait to be read. */
const WAITING_AT_MOST = 256;

const ROBOTS_BYTES = 524_288;
const ROBOTS_MS = 4_000;
const ORIGINS_AT_MOST = 5_000;
const ALL_ROBOTS_BYTES = 67_108_864;
const ROBOTS_LIFETIME_MS = 3_600_000;

const ACCEPT = 'text/html,application/xhtml+xml;q=0.9,text/plain;q=0.8,application/pdf;q=0.7,*/*;q=0.5';

/** Reads web pages, respecting robots.txt, through the guarded fetcher; parses them in a thread. */
export class LocalWebPages extends WebPages {
  private readonly pace: HostPace;
  private readonly places: ReadingPlaces;
  private readonly browserPlaces: ReadingPlaces;
  private readonly blocked: BlockedHosts;
  private readonly robots = new LRUCache<string, RobotRules>({
    max: ORIGINS_AT_MOST,
    maxSize: ALL_ROBOTS_BYTES,
    sizeCalculation: ({ sizeBytes }) => sizeBytes,
    ttl: ROBOTS_LIFETIME_MS,
  });

  constructor(
    private readonly settings: WebPagesSettings,
    private readonly neighbours: Neighbours,
  ) {
    super();
    this.blocked = new BlockedHosts(settings.RETRIEVAL_BLOCKED_HOSTS);
    this.pace = new HostPace(settings.RETRIEVAL_HOST_PAUSE_MS);
    this.places = new ReadingPlaces(settings.RETRIEVAL_PAGES_AT_ONCE, WAITING_AT_MOST);
    this.browserPlaces = new ReadingPlaces(settings.RETRIEVAL_BROWSER_PAGES, WAITING_AT_MOST);
  }

  override async read({ accountId, url }: PageRequest, signal?: AbortSignal): Promise<WebPage> {
    signal?.throwIfAborted();
    const late = AbortSignal.timeout(this.settings.RETRIEVAL_PAGE_TIMEOUT_MS);
    const either = signal ? AbortSignal.any([signal, late]) : late;
    try {
      return await this.places.take(accountId, either, async () => {
        const fetched = await this.fetched(url, either);
        return this.text(fetched, accountId, either);
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw unread(error, late);
    }
  }

  private async fetched(url: string, signal: AbortSignal): Promise<FetchedFile> {
    if (!URL.canParse(url)) throw new PageUnread('it is not a valid URL');
    const requested = new URL(url);
    // Checked before any request to the host.
    if (requested.username !== '' || requested.password !== '')
      throw new PageUnread('the URL holds a user name or password');
    await this.checkHost(requested, signal);
    const { RETRIEVAL_PAGE_TIMEOUT_MS: timeoutMs, RETRIEVAL_PAGE_LIMIT_BYTES: limitBytes } = this.settings;
    if (!(await this.pace.turn(requested.host, timeoutMs, signal)))
      throw new PageUnread('too much is being read from that host');
    const fetched = await this.neighbours.fetcher.fetch(url, {
      limitBytes,
      timeoutMs,
      accept: ACCEPT,
      signal,
    });
    // A redirect may have led to another host with its own rules, or to a page that must not be read.
    const final = new URL(fetched.url);
    if (final.href !== requested.href) await this.checkHost(final, signal);
    return fetched;
  }

  private async checkHost(url: URL, signal: AbortSignal): Promise<void> {
    const name = this.blocked.blocking(url);
    if (name !== undefined) throw new PageUnread(`pages of ${name} are not read`);
    await this.checkRobots(url, signal);
  }

  private async checkRobots({ protocol, origin, pathname, search }: URL, signal: AbortSignal): Promise<void> {
    if (this.settings.RETRIEVAL_ROBOTS === 'ignore' || !protocol.startsWith('http')) return;
    let rules = this.robots.get(origin);
    if (!rules) {
      rules = await this.rulesOf(origin, signal);
      this.robots.set(origin, rules);
    }
    if (!rules.allows(pathname + search)) throw new PageUnread('its robots.txt asks not to');
  }

  /**
   * A host without rules allows everything; one whose rules are unavailable allows nothing (RFC 9309 §2.3.1).
   */
  private async rulesOf(origin: string, signal: AbortSignal): Promise<RobotRules> {
    try {
      const limits = { limitBytes: ROBOTS_BYTES, timeoutMs: ROBOTS_MS, accept: 'text/plain', signal };
      const { bytes } = await this.neighbours.fetcher.fetch(`${origin}/robots.txt`, limits);
      return RobotRules.parse(bytes.toString('utf8'));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FetchRefused)) throw error;
      if (error.reason === 'status')
        return (error.status ?? 0) >= 500 ? RobotRules.nothing : RobotRules.everything;
      if (error.reason === 'redirect' || error.reason === 'too-large') return RobotRules.everything;
      throw error;
    }
  }

  private async text(fetched: FetchedFile, account: string, signal: AbortSignal): Promise<WebPage> {
    const { url, contentType, bytes } = fetched;
    if (isHtml(contentType, bytes)) {
      const { title, text, date } = await this.pageText(fetched, account, signal);
      const publishedAt = dateOf(date, Date.now());
      return { url, title: title || url, text, ...(publishedAt !== undefined && { publishedAt }) };
    }
    const name = new URL(url).pathname.split('/').at(-1) ?? '';
    const mediaType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
    const file = { accountId: account, bytes, mediaType, ...(name !== '' && { name }) };
    const { text } = await this.neighbours.files.extractText(file, signal);
    return { url, title: name || url, text: text.slice(0, PAGE_CHARACTERS).toWellFormed() };
  }

  /** The text of the page as sent or, if it has none, as rendered by its scripts. */
  private async pageText(fetched: FetchedFile, account: string, signal: AbortSignal): Promise<PageMarkdown> {
    const { url, contentType, bytes } = fetched;
    const { reader, browser } = this.neighbours;
    const job = { bytes, contentType, url, textLimit: PAGE_CHARACTERS };
    // The browser gets the page as it was sent.
    const sent = await reader.readPage(job, { account, signal, givesBytes: !browser });
    if (sent.text !== '' && !sent.isShell) return sent;
    if (!browser || !sent.isShell) throw new PageUnread('the page holds no text without its scripts');
    const html = await this.browserPlaces.take(account, signal, () => browser.html(fetched, signal));
    const rendered = { ...job, bytes: Buffer.from(html), contentType: 'text/html; charset=utf-8' };
    const made = await reader.readPage(rendered, { account, signal });
    // After rendering, even a short text is all there is.
    if (made.text === '') throw new PageUnread('the page holds no text');
    return made;
  }
}

function isHtml(contentType: string, bytes: Uint8Array): boolean {
  if (/^\s*(text\/html|application\/xhtml\+xml)/i.test(contentType)) return true;
  if (contentType.trim() !== '') return false;
  return /^\s*<(!doctype html|html)/i.test(Buffer.from(bytes.subarray(0, 200)).toString('latin1'));
}

/** Plain words for the client, a clause without a full stop. */
function unread(error: unknown, late: AbortSignal): Error {
  if (error instanceof PageUnread) return error;
  if (late.aborted) return new PageUnread('it took too long');
  if (error instanceof BrowserFailed)
    return new PageUnread('the page needs its scripts, and they could not be run', { cause: error });
  if (error instanceof FetchRefused) return new PageUnread(clause(error.message), { cause: error });
  if (error instanceof ExtractionFailed || error instanceof JobFailed)
    return new PageUnread(error.reason, { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}

const clause = (sentence: string): string =>
  sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');

/** Hosts whose pages, and those of their subdomains, are not read. */
class BlockedHosts {
  private readonly names: ReadonlySet<string>;

  /** @param list Host names, separated by commas. */
  constructor(list: string) {
    this.names = new Set(list.split(',').filter((name) => name !== ''));
  }

  /** The list entry that blocks a host, if any. */
  blocking({ hostname }: URL): string | undefined {
    const labels = hostname.replace(/\.$/, '').split('.');
    return labels.map((_, index) => labels.slice(index).join('.')).find((name) => this.names.has(name));
  }
}

/** The most hosts whose pace is remembered. */
const HOSTS_AT_MOST = 10_000;

/** Spaces out the requests to each host, with a pause between their starts. */
class HostPace {
  private readonly nextMs = new LRUCache<string, number>({ max: HOSTS_AT_MOST });

  constructor(private readonly pauseMs: number) {}

  /** Resolves when it is a request's turn; false if that would take too long. Throws the signal's reason. */
  async turn(host: string, withinMs: number, signal: AbortSignal): Promise<boolean> {
    const nowMs = performance.now();
    const atMs = Math.max(nowMs, this.nextMs.get(host) ?? 0);
    if (atMs - nowMs > withinMs) return false;
    this.nextMs.set(host, atMs + this.pauseMs);
    if (atMs > nowMs) await sleep(atMs - nowMs, undefined, { signal });
    return true;
  }
}

import assert from 'node:assert';
import { Injectable } from '@nestjs/common';
import { Client, type Dispatcher } from 'undici';
import { readBody } from './bounded-body.js';
import { dial } from './dial.js';
import { FetchRefused } from './fetch-refused.js';
import { type Network, SystemNetwork } from './network.js';
import { type Rules, type Target, hostAndPort, targetOf } from './target.js';

const USER_AGENT = 'svc-guarded-fetch/1.0';
const MAX_HEADER_BYTES = 16 * 1024;
/** The most 1xx responses before the final one. */
const MAX_HINTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface GuardedFetchSettings {
  /** Exact `host:port` entries that may be private and on any port. None by default. */
  readonly allowPrivateHosts?: readonly string[];
  /** Allowed ports. */
  readonly ports?: readonly number[];
  readonly maxRedirects?: number;
}

export interface GuardedFetchOptions {
  /** The most bytes of the content, both as sent and decompressed. */
  readonly limitBytes: number;
  /** For everything together: names, connections, redirects, content. */
  readonly timeoutMs: number;
  /** The value of `Accept`. */
  readonly accept?: string;
  /** Sends this with POST instead. A redirect is then refused. */
  readonly post?: { readonly body: string; readonly headers: Readonly<Record<string, string>> };
  /** Ends the fetch, which rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface FetchedFile {
  /** The final URL, after redirects. */
  readonly url: string;
  /** 200 to 299. */
  readonly status: number;
  /** As sent; empty if absent. */
  readonly contentType: string;
  readonly bytes: Buffer;
}

interface GuardedCall extends Pick<GuardedFetchOptions, 'limitBytes' | 'post'> {
  readonly accept: string;
  readonly signal: AbortSignal;
}

/** Fetches untrusted URLs without ever reaching a network that is not public. */
@Injectable()
export class GuardedFetcher {
  private readonly rules: Rules;
  private readonly maxRedirects: number;

  constructor(
    { allowPrivateHosts = [], ports = [80, 443, 8080, 8443], maxRedirects = 5 }: GuardedFetchSettings = {},
    private readonly network: Network = new SystemNetwork(),
  ) {
    this.rules = { ports: new Set(ports), exempt: new Set(allowPrivateHosts.map(hostAndPort)) };
    this.maxRedirects = maxRedirects;
  }

  /**
   * GETs a URL, following redirects, or POSTs to it. Throws FetchRefused on anything but a success within the
   * limits.
   */
  async fetch(url: string, options: GuardedFetchOptions): Promise<FetchedFile> {
    const { limitBytes, timeoutMs, accept = '*/*', post, signal } = options;
    assert(limitBytes > 0 && timeoutMs > 0, 'a fetch needs its limits');
    signal?.throwIfAborted();
    const ended = new AbortController();
    const onAbort = (): void => ended.abort();
    const timer = setTimeout(onAbort, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await this.follow(url, { limitBytes, accept, signal: ended.signal, ...(post && { post }) });
    } catch (error) {
      signal?.throwIfAborted();
      if (ended.signal.aborted) throw new FetchRefused('timeout', error);
      throw FetchRefused.from(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  private async follow(url: string, call: GuardedCall): Promise<FetchedFile> {
    const seen = new Set<string>();
    let target = targetOf(url, this.rules);
    while (!seen.has(target.url.href) && seen.size <= this.maxRedirects) {
      seen.add(target.url.href);
      const answer = await this.ask(target, call);
      if ('url' in answer) return answer;
      if (call.post) break;
      target = this.redirected(target, answer.location);
    }
    throw new FetchRefused('redirect');
  }

  /** One request on a new connection: a pooled one would skip the check of its address. */
  private async ask(target: Target, call: GuardedCall): Promise<FetchedFile | { location: string }> {
    let dialled = false;
    let hints = 0;
    const client = new Client(target.url.origin, {
      connect: (_options, connected) => {
        // The client would reconnect to a server that disconnects at once.
        if (dialled) return connected(new FetchRefused('unreachable'), null);
        dialled = true;
        return void dial(target, this.network, call.signal).then(
          (socket) => connected(null, socket),
          (error: unknown) => connected(error instanceof Error ? error : new Error(String(error)), null),
        );
      },
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The caller's deadline covers everything.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    try {
      const response = await client.request({
        method: call.post ? 'POST' : 'GET',
        path: target.url.pathname + target.url.search,
        headers: {
          accept: call.accept,
          'accept-encoding': 'identity',
          'user-agent': USER_AGENT,
          ...call.post?.headers,
        },
        body: call.post?.body ?? null,
        reset: true,
        signal: call.signal,
        onInfo: () => {
          hints += 1;
          if (hints > MAX_HINTS) throw new FetchRefused('too-large');
        },
      });
      response.body.on('error', () => undefined);
      return await answerOf(target, response, call);
    } finally {
      await client.destroy();
    }
  }

  private redirected(from: Target, location: string): Target {
    const target = targetOf(location, this.rules, from.url);
    const isDowngrade = from.url.protocol === 'https:' && target.url.protocol === 'http:';
    if (isDowngrade) throw new FetchRefused('redirect');
    return target;
  }
}

async function answerOf(
  target: Target,
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { limitBytes, signal }: GuardedCall,
): Promise<FetchedFile | { location: string }> {
  if (REDIRECTS.has(statusCode)) {
    if (typeof headers.location !== 'string') throw new FetchRefused('redirect');
    return { location: headers.location };
  }
  if (statusCode < 200 || statusCode > 299)
    throw new FetchRefused('status', new Error(`status ${statusCode}`), statusCode);
  const announcedBytes = Number(textOf(headers['content-length']));
  if (announcedBytes > limitBytes) throw new FetchRefused('too-large');
  const encoding = textOf(headers['content-encoding']).trim().toLowerCase();
  return {
    url: target.url.href,
    status: statusCode,
    contentType: textOf(headers['content-type']),
    bytes: await readBody(body, { encoding, limitBytes, announcedBytes, signal }),
  };
}

const textOf = (header: string | string[] | undefined): string => [header ?? ''].flat().join(', ');

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent, WebSocket, request } from 'undici';
import { RESPONSE_JSON_LIMITS, boundedJson } from '@svc/runtime';

/** The largest message of a browser; our own limits keep its replies below this. */
const MESSAGE_BYTES = 16_777_216;

const DISCOVERY_BYTES = 65_536;

/** The browser could not carry out a command. */
export class BrowserFailed extends Error {
  override readonly name = 'BrowserFailed';
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message?: string };
  readonly sessionId?: string;
}

/** An event of the browser or of one of its pages. */
export interface BrowserEvent {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly sessionId: string | undefined;
}

type Pending = PromiseWithResolvers<Record<string, unknown>>;

/**
 * A connection to a browser by the DevTools protocol. When its signal aborts, it closes, and all pending
 * calls fail.
 */
export class DevTools {
  private readonly pending = new Map<number, Pending>();
  private next = 1;
  /** Called for each event, one after the other. */
  onEvent: (event: BrowserEvent) => void = () => undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly dispatcher: Agent,
  ) {
    socket.addEventListener('message', ({ data }) => this.receive(String(data)));
    socket.addEventListener('close', () => this.fail('the browser has hung up'));
    socket.addEventListener('error', () => this.fail('the browser has hung up'));
  }

  /**
   * Connects to a browser at an address such as `http://host:9222`. Throws BrowserFailed, or the signal's
   * reason.
   */
  static async connect(address: string, signal: AbortSignal): Promise<DevTools> {
    const dispatcher = new Agent({ webSocket: { maxPayloadSize: MESSAGE_BYTES } });
    try {
      const url = await debuggerUrl(address, signal);
      const socket = new WebSocket(url, { dispatcher });
      const opened = Promise.withResolvers<void>();
      socket.addEventListener('open', () => opened.resolve());
      socket.addEventListener('error', () => opened.reject(new BrowserFailed('the browser is unavailable')));
      const leave = (): void => opened.reject(signal.reason as Error);
      signal.addEventListener('abort', leave, { once: true });
      try {
        await opened.promise;
      } catch (error) {
        socket.close();
        throw error;
      } finally {
        signal.removeEventListener('abort', leave);
      }
      return new DevTools(socket, dispatcher);
    } catch (error) {
      void dispatcher.destroy(); // Nothing waits on it.
      signal.throwIfAborted();
      throw error instanceof BrowserFailed
        ? error
        : new BrowserFailed('the browser is unavailable', { cause: error });
    }
  }

  /** Calls a method. Throws BrowserFailed. */
  send(
    method: string,
    params: Record<string, unknown> = {},
    sessionId?: string,
  ): Promise<Record<string, unknown>> {
    const id = this.next;
    this.next += 1;
    const pending = Promise.withResolvers<Record<string, unknown>>();
    this.pending.set(id, pending);
    if (this.socket.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    else this.fail('the browser has hung up');
    return pending.promise;
  }

  close(): void {
    this.fail('the connection is closed');
    this.socket.close();
    void this.dispatcher.destroy(); // Nothing waits on it.
  }

  private receive(data: string): void {
    const {
      id,
      method,
      params = {},
      result = {},
      error,
      sessionId,
    } = boundedJson(data, RESPONSE_JSON_LIMITS) as Message;
    if (id === undefined) {
      if (method !== undefined) this.onEvent({ method, params, sessionId });
      return;
    }
    const pending = this.pending.get(id);
    this.pending.delete(id);
    if (error) pending?.reject(new BrowserFailed(error.message ?? 'the browser refused'));
    else pending?.resolve(result);
  }

  private fail(why: string): void {
    for (const { reject } of this.pending.values()) reject(new BrowserFailed(why));
    this.pending.clear();
  }
}

/** Browsers respond only to requests by address, not by name. */
async function debuggerUrl(address: string, signal: AbortSignal): Promise<string> {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const found = isIP(host) === 0 ? (await lookup(host)).address : host;
  url.hostname = isIP(found) === 6 ? `[${found}]` : found;
  const { statusCode, body } = await request(new URL('/json/version', url), { signal });
  let text = '';
  for await (const piece of body) {
    text += String(piece);
    if (text.length > DISCOVERY_BYTES) break;
  }
  if (statusCode !== 200) throw new BrowserFailed('the browser is unavailable');
  const { webSocketDebuggerUrl } = boundedJson(text) as { webSocketDebuggerUrl: string };
  const { pathname } = new URL(webSocketDebuggerUrl);
  return `${url.protocol === 'https:' ? 'wss' : 'ws'}://${url.host}${pathname}`;
}

import type { ConsoleSession } from '@svc/api/console';
import { Platform } from './platform.js';

/** What a page of the console gets. */
export interface ConsoleResponse<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body & { readonly code?: string; readonly error?: { readonly message: string } };
}

export interface ConsoleCall {
  readonly body?: unknown;
  /** Replaces headers of the browser; `undefined` leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The gateway to call; default: whichever the balancer chooses. */
  readonly to?: string;
}

/** A browser with a page of the console, as far as requests show it: the headers, and the cookie. */
export class ConsoleBrowser {
  private static count = 0;
  cookie: string | undefined;
  /** Where it is, as a trusted proxy says: failed sign-ins count for it. */
  readonly address = `192.0.2.${(ConsoleBrowser.count += 1)}`;

  constructor(private readonly rootUrl: string) {}

  /** A browser that has signed in by a key. */
  static async signedIn(platform: Platform, apiKey: string): Promise<ConsoleBrowser> {
    const browser = new ConsoleBrowser(platform.rootUrl);
    const { status, body } = await browser.signIn({ apiKey });
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return browser;
  }

  /** The origin of the page. */
  get origin(): string {
    return this.rootUrl;
  }

  /** Calls a path below `/console/api`. */
  async fetch(method: string, path: string, { body, headers, to = this.rootUrl }: ConsoleCall = {}) {
    const isChange = method !== 'GET';
    const sent = {
      'sec-fetch-site': 'same-origin',
      'x-forwarded-for': this.address,
      ...(isChange && { 'content-type': 'application/json', 'x-svc-console': '1', origin: this.origin }),
      ...(this.cookie !== undefined && { cookie: this.cookie }),
      ...headers,
    };
    const response = await fetch(`${to}/console/api${path}`, {
      method,
      headers: Object.entries(sent).flatMap<[string, string]>(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
    });
    const cookie = response.headers.get('set-cookie')?.split(';', 1)[0];
    if (cookie !== undefined) this.cookie = cookie;
    return response;
  }

  /** The same, with the body read as JSON. */
  async ask<Body = Record<string, unknown>>(
    method: string,
    path: string,
    call: ConsoleCall = {},
  ): Promise<ConsoleResponse<Body>> {
    const response = await this.fetch(method, path, call);
    const body = (await response.json()) as ConsoleResponse<Body>['body'];
    return { status: response.status, headers: response.headers, body };
  }

  signIn(body: unknown, call: ConsoleCall = {}): Promise<ConsoleResponse<{ data: ConsoleSession }>> {
    return this.ask('POST', '/session', { body, ...call });
  }
}

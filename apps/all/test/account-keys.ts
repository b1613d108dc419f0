import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform, TestAccount } from './platform.js';
import { isClustered } from './target.js';

/** More than the promised second, for a busy machine. */
const IN_EFFECT_MS = 3_000;

/** A key as returned to its owner. */
export interface Key {
  readonly id: string;
  readonly apiKey: string;
  readonly apiKeyType: string;
  readonly description: string;
  readonly last6Chars: string;
  readonly lastUsedAt: string | null;
  readonly usage: { trailingSevenDays: { usd: string; vcu: string; diem: string } };
  readonly currentPeriodUsage?: { usd: string; diem: string };
}

/** A response of the API for keys. Each test checks which of its members are present. */
export interface KeyResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly data: Key & readonly Key[];
    readonly success: boolean;
    readonly code: string;
    readonly error: { readonly message: string; readonly code: string; readonly param: string | null };
  };
}

export interface KeyRequest {
  readonly path?: string;
  /** Sent as JSON, except for an empty text. */
  readonly body?: unknown;
}

/** An account with money, and an ADMIN key to manage its keys. */
export class AccountKeys {
  private constructor(
    private readonly platform: Platform,
    readonly account: TestAccount,
    readonly adminKey: string,
  ) {}

  static async of(platform: Platform, usd = '10.00'): Promise<AccountKeys> {
    const account = await platform.account(usd);
    const body = { apiKeyType: 'ADMIN', description: 'admin' };
    const made = await platform.operator('POST', `/accounts/${account.id}/api_keys`, body);
    return new AccountKeys(platform, account, String(made.body['apiKey']));
  }

  /** Calls the API for keys, with the ADMIN key or another. A change is in effect once this resolves. */
  async ask(
    method: string,
    request: KeyRequest = {},
    apiKey: string | undefined = this.adminKey,
  ): Promise<KeyResponse> {
    const answer = await askKeys(this.platform, { method, apiKey, ...request });
    // The process that was asked knows it at once, others within a second.
    if (isClustered() && method !== 'GET' && method !== 'POST') await sleep(IN_EFFECT_MS);
    return answer;
  }

  /** Creates a key; fails if that is refused. */
  async create(more: object = {}): Promise<Key> {
    const { status, body } = await this.ask('POST', {
      body: { apiKeyType: 'INFERENCE', description: 'd', ...more },
    });
    if (status !== 200) throw new Error(`no key was made: ${JSON.stringify(body)}`);
    return body.data;
  }
}

/** Calls the API for keys, with or without a key. */
export async function askKeys(
  platform: Platform,
  { method, apiKey, path = '', body }: KeyRequest & { method: string; apiKey: string | undefined },
): Promise<KeyResponse> {
  const response = await fetch(`${platform.apiUrl}/api_keys${path}`, {
    method,
    headers: {
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: body === '' ? '' : JSON.stringify(body) }),
  });
  const answer = (await response.json()) as KeyResponse['body'];
  return { status: response.status, headers: response.headers, body: answer };
}

import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';

export const OPERATOR_TOKEN = 'operator-token-of-the-tests-of-the-platform';

/** No machine needs as long for a call of the operator's API. */
const ANSWERED_WITHIN_MS = 30_000;
const RETRY_MS = 200;

export interface TestAccount {
  readonly id: string;
  readonly apiKey: string;
  readonly openai: OpenAI;
}

export interface OperatorResponse {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** The platform as seen by clients and the operator, whether it is one process or several. */
export abstract class Deployment {
  abstract readonly apiUrl: string;
  abstract readonly operatorUrl: string;

  /** Processes that have exited unexpectedly; tests can't continue after that. */
  abstract get fate(): string | undefined;

  /** Calls the operator's API. */
  async operator(method: string, path: string, body?: unknown): Promise<OperatorResponse> {
    const response = await fetch(this.operatorUrl + path, {
      method,
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /**
   * What the operator's API answers when it can: a busy machine may let a call between services end at its
   * deadline.
   */
  private async answered(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    for (const deadline = Date.now() + ANSWERED_WITHIN_MS; ; await sleep(RETRY_MS)) {
      const response = await this.operator(method, path, body);
      if (response.status < 300) return response.body;
      if (response.status !== 503 || Date.now() > deadline)
        throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    }
  }

  /** Opens an account with this number of USD and an inference key. */
  async account(usd = '10.00', account: object = {}): Promise<TestAccount> {
    const id = String((await this.answered('POST', '/accounts', { name: 'test', ...account }))['id']);
    if (Number(usd) > 0) await this.answered('POST', `/accounts/${id}/credits`, { usd, reference: 'start' });
    const key = await this.answered('POST', `/accounts/${id}/api_keys`, {
      apiKeyType: 'INFERENCE',
      description: '',
    });
    const apiKey = String(key['apiKey']);
    return { id, apiKey, openai: new OpenAI({ apiKey, baseURL: this.apiUrl, maxRetries: 0 }) };
  }

  /** Posts a chat completion as given, to the balancer or `to` a gateway. */
  chat(
    apiKey: string,
    body: unknown,
    { to = this.apiUrl, ...init }: RequestInit & { to?: string } = {},
  ): Promise<Response> {
    return fetch(`${to}/chat/completions`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...init.headers },
    });
  }

  /** The balances of the account, as decimal strings. */
  async balances(id: string): Promise<{ usd: string; diem: string }> {
    const account = await this.answered('GET', `/accounts/${id}`);
    return account['balances'] as { usd: string; diem: string };
  }

  audit(): Promise<OperatorResponse> {
    return this.operator('GET', '/ledger/audit');
  }
}

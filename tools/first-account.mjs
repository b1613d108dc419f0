// Opens the first account of an empty installation, with 10 USD, and prints its key. compose.yaml and the
// chart run it after the gateway has started. It is idempotent. OPERATOR_URL and SVC_OPERATOR_TOKEN give
// access to the operator's API.
import { setTimeout as sleep } from 'node:timers/promises';
import { SECRET_LENGTH, loadConfig } from '@svc/runtime';
import { z } from 'zod';

const NAME = 'development';
const USD = '10';
const CALL_MS = 30_000;
/** Time limit for the start of a gateway that starts at the same time. */
const WAIT_MS = 300_000;
const RETRY_MS = 1_000;

export const firstAccountConfig = {
  OPERATOR_URL: z.url({ protocol: /^https?$/ }).describe("Where the operator's API listens"),
  SVC_OPERATOR_TOKEN: z.string().min(SECRET_LENGTH).describe("The operator's secret"),
};

class Operator {
  constructor(url, token) {
    this.base = `${url.replace(/\/$/, '')}/operator/v1`;
    this.headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  }

  async call(path, body) {
    const response = await fetch(`${this.base}/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: this.headers,
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_MS),
    });
    if (response.ok) return response.json();
    const error = new Error(`${this.base}/${path}: ${response.status} ${await response.text()}`);
    throw Object.assign(error, { isRefused: response.status < 500 });
  }

  /** Lists the newest accounts, after waiting for a gateway. */
  async accounts() {
    for (const endMs = performance.now() + WAIT_MS; ; await sleep(RETRY_MS)) {
      try {
        return (await this.call('accounts?limit=2')).data;
      } catch (error) {
        if (error.isRefused || performance.now() > endMs) throw error;
      }
    }
  }

  /** The account to complete: a new one, or one that an interrupted run left without a key. */
  async unfinished() {
    const [account, ...others] = await this.accounts();
    if (!account) return (await this.call('accounts', { name: NAME, paid: true })).id;
    if (others.length > 0 || account.name !== NAME) return undefined;
    const keys = await this.call(`api_keys?accountId=${account.id}&limit=1`);
    return keys.data.length === 0 ? account.id : undefined;
  }
}

/** The first account and its key, or undefined if there are accounts. */
export async function firstAccount(url, token) {
  const operator = new Operator(url, token);
  const id = await operator.unfinished();
  if (id === undefined) return undefined;
  await operator.call(`accounts/${id}/credits`, { usd: USD, reference: NAME });
  const key = { apiKeyType: 'INFERENCE', description: 'First key' };
  const { apiKey } = await operator.call(`accounts/${id}/api_keys`, key);
  return { id, apiKey };
}

if (import.meta.main) {
  try {
    const config = loadConfig(firstAccountConfig, process.env);
    const made = await firstAccount(config.OPERATOR_URL, config.SVC_OPERATOR_TOKEN);
    console.log(
      made
        ? `Account ${made.id} has ${USD} USD. Its API key is shown only now:\n  API key        ${made.apiKey}`
        : 'Accounts already exist, so no first account was opened.',
    );
  } catch (error) {
    console.error(error.cause ? `${error.message}: ${error.cause.message ?? error.cause}` : error.message);
    process.exitCode = 1;
  }
}

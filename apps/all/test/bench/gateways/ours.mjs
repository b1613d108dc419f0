// This service under load: everything enabled, with a temporary data folder and limits that are never
// reached.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { OWN_ENV, OWN_OPTIONS } from '../../own-start.ts';
import { BACKEND_MODEL, MODEL, SHORT_MODEL, SHORT_PATH, STREAM_MODEL, question } from '../responses.mjs';
import { freePort } from '../processes.mjs';

const CHECKOUT = fileURLToPath(new URL('../../../../..', import.meta.url));
const CREDIT_USD = '500000.00';
/** An audit of a million charges takes most of a minute. */
const CALL_MS = 120_000;
/** Time limit for the ledger to post the charges after the load. */
const POSTING_MS = 20_000;

/**
 * Starts the service, of this checkout or of another, in front of both backends: `{ child, url, headers,
 * operator }`. `env` has further settings, and `nodeArgs` further options of Node. With the `headers` of an
 * earlier run on the same data, it is ready when a completion succeeds.
 */
export async function startOurs(
  place,
  { instantUrl, streamUrl, profile, checkout = CHECKOUT, env = {}, ...rest },
) {
  const {
    headers,
    maxInFlight,
    nodeArgs = [],
    name = checkout === CHECKOUT ? 'service' : 'service-beside',
  } = rest;
  const { program = join(checkout, 'apps/all/dist/main.js') } = rest;
  const [port, operatorPort] = [await freePort(), await freePort()];
  const token = randomBytes(32).toString('base64url');
  const catalogPath = join(place.dir, `${name}.yaml`);
  // JSON is valid YAML.
  writeFileSync(catalogPath, JSON.stringify(catalog({ instantUrl, streamUrl, maxInFlight })));
  const child = place.start(name, process.execPath, {
    args: [
      ...OWN_OPTIONS,
      ...nodeArgs,
      ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`] : []),
      program,
    ],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: 'production',
      ...OWN_ENV,
      HOST: '127.0.0.1',
      PORT: String(port),
      OPERATOR_PORT: String(operatorPort),
      SVC_DATA_DIR: join(place.dir, `${name}-data`),
      SVC_CATALOG: catalogPath,
      SVC_OPERATOR_TOKEN: token,
      // Less than the bench waits for a process to exit.
      SVC_DRAIN_MS: '2000',
      // All load comes from one account.
      GATEWAY_ACCOUNT_CONCURRENCY: '0',
      ...env,
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const completions = `${url}/api/v1/chat/completions`;
  const first = headers
    ? () =>
        fetch(completions, { method: 'POST', headers, body: question, signal: AbortSignal.timeout(1_000) })
    : () => fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) });
  await place.untilReady(child, async () => (await first()).ok);
  const operator = new Operator(`http://127.0.0.1:${operatorPort}/operator/v1`, token);
  return {
    child,
    url: completions,
    headers: headers ?? { authorization: `Bearer ${await operator.openAccount()}` },
    operator,
    metricsUrl: `http://127.0.0.1:${operatorPort}/metrics`,
  };
}

export function catalog({ instantUrl, streamUrl, maxInFlight = 4_096 }) {
  const limits = { requestsPerMinute: 1_000_000_000, tokensPerMinute: 1_000_000_000_000 };
  const model = (id, url) => ({
    id,
    name: id,
    tier: 'XS',
    contextTokens: 131_072,
    maxCompletionTokens: 8_192,
    pricing: { input: 0.15, output: 0.6 },
    backends: [{ kind: 'openai', url: `${url}/v1`, model: BACKEND_MODEL, maxInFlight }],
  });
  return {
    models: [
      model(MODEL, instantUrl),
      model(STREAM_MODEL, streamUrl),
      model(SHORT_MODEL, instantUrl + SHORT_PATH),
    ],
    tiers: { XS: { standard: limits } },
  };
}

/** The operator's API of the service under load. */
export class Operator {
  constructor(base, token) {
    this.base = base;
    this.token = token;
  }

  /** Opens an account that can pay for any load, and returns its API key. */
  async openAccount() {
    const account = await this.#call('POST', '/accounts', { name: 'bench', paid: true });
    await this.#call('POST', `/accounts/${account.id}/credits`, { usd: CREDIT_USD, reference: 'bench' });
    const key = { apiKeyType: 'INFERENCE', description: 'bench' };
    return (await this.#call('POST', `/accounts/${account.id}/api_keys`, key)).apiKey;
  }

  /** Audits the whole book. */
  audit() {
    return this.#call('GET', '/ledger/audit');
  }

  /** Audits once at least this many charges are posted and no more arrive, or after a timeout. */
  async auditAfter(charges) {
    const deadline = performance.now() + POSTING_MS;
    let audit = await this.audit();
    for (let before = -1; performance.now() < deadline;) {
      if (audit.charges >= charges && audit.charges === before) break;
      before = audit.charges;
      await sleep(500);
      audit = await this.audit();
    }
    return audit;
  }

  async #call(method, path, body) {
    const response = await fetch(this.base + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}

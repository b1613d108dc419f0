import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalChain } from '@svc/infra';
import { buyer } from '../buyers.js';
import { contractSignIn } from '../contract-wallets.js';
import { challengeOf, evmWallet } from '../wallets.js';

/** Models of the catalogue; the backends of some are down, out of service, or reject all requests. */
export function troubledCatalog(): object {
  const simulator = { kind: 'simulator', model: 'test-model' };
  const nobody = { url: 'http://127.0.0.1:9', model: 'x' };
  const slowlyFailing = (name: string): object => ({
    ...simulator,
    model: `${name};fault=slow-headers,cut-mid-stream;delay-ms=1500`,
  });
  const model = (id: string, backends: readonly object[], tier = 'XS'): object => ({
    id,
    name: id,
    tier,
    contextTokens: 131_072,
    maxCompletionTokens: 8_192,
    pricing: { input: 0.15, output: 0.6 },
    backends,
  });
  const clip = (id: string, settings: string): object => ({
    id,
    name: id,
    type: 'video',
    tier: 'XS',
    constraints: { durations: ['5s'], resolutions: ['480p'], aspectRatios: ['16:9'] },
    pricing: { perSecond: { '480p': 0.02 } },
    backends: [{ kind: 'simulator', model: `clip${settings}` }],
  });
  return {
    models: [
      model('sound', [simulator]),
      model('gone', [nobody]),
      model('half-gone', [nobody, simulator]),
      model('failing', ['a', 'b', 'c'].map(slowlyFailing)),
      model(
        'talking',
        ['a', 'b', 'c'].map((name) => ({ ...simulator, name, model: `talk-${name}` })),
      ),
      model('rejected', [{ ...simulator, model: 'test-model;fault=400' }]),
      model('scarce', [simulator], 'S'),
      clip('clip', ';delay-ms=10000'),
      clip('broken-clip', ';delay-ms=2000;fault=failed'),
    ],
    tiers: {
      XS: { standard: { requestsPerMinute: 100_000, tokensPerMinute: 1_000_000_000 } },
      S: { standard: { requestsPerMinute: 3, tokensPerMinute: 10_000 } },
    },
    cryptoRpc: { networks: { gone: { family: 'evm', chainId: 1, nodes: [{ url: nobody.url }] } } },
  };
}

interface Body {
  readonly model: string;
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly models?: readonly string[];
}

/** The addresses for clients and the operator. */
export interface PlatformAddresses {
  readonly apiUrl: string;
  readonly operatorUrl: string;
  readonly operatorToken: string;
  /** The seller for wallets. */
  readonly chain: LocalChain;
}

const PAUSE_MS = 100;
/** Long enough to be kept in a cache of prefixes. */
const LONG = 'You answer questions about one of many documents. '.repeat(40);
const TURNS = 6;
/** Enough at once for more retries than the router's budget allows. */
const FAILING_AT_ONCE = 16;
/** Between two jobs that make videos. */
const JOB_PAUSE_MS = 4_000;
const DEADLINE_MS = 30_000;
/** A client with this timeout leaves before a long response is complete. */
const IMPATIENT_MS = 40;

/**
 * Clients of all kinds: served; refused for money, limits and keys; without a backend; disconnected early.
 */
export class TroubledLoad {
  private readonly over = new AbortController();
  private readonly loops: Promise<void>[];
  /** The number of responses by model and status. */
  readonly seen = new Map<string, number>();

  private constructor(
    private readonly addresses: PlatformAddresses,
    keys: { readonly rich: string; readonly poor: string },
  ) {
    const { rich, poor } = keys;
    this.loops = [
      this.repeat(rich, { model: 'sound', stream: true, max_tokens: 20 }),
      this.repeat(rich, { model: 'sound', max_tokens: 5 }),
      this.repeat(rich, { model: 'gone' }),
      this.repeat(rich, { model: 'half-gone', stream: true }),
      this.repeat(rich, { model: 'gone', models: ['sound'] }),
      this.repeat(rich, { model: 'rejected' }),
      ...Array.from({ length: FAILING_AT_ONCE }, () =>
        this.repeat(rich, { model: 'failing', max_tokens: 5 }),
      ),
      this.repeatTalk(rich, 'one'),
      this.repeatTalk(rich, 'another'),
      this.repeat(rich, { model: 'scarce' }),
      this.repeat(poor, { model: 'sound' }),
      this.repeat('wrong', { model: 'sound' }),
      this.repeat(rich, { model: 'sound', stream: true, max_tokens: 2_000 }, IMPATIENT_MS),
      this.repeatJob(rich, 'clip'),
      this.repeatJob(rich, 'broken-clip'),
      this.repeatPaying(),
    ];
  }

  static async start(addresses: PlatformAddresses): Promise<TroubledLoad> {
    const [rich, poor] = await Promise.all([accountOf(addresses, '100.00'), accountOf(addresses)]);
    const drain = { state: 'draining', reason: 'New driver' };
    await operate(addresses, { method: 'PUT', path: '/backends/talking/c/state', body: drain });
    return new TroubledLoad(addresses, { rich, poor });
  }

  async end(): Promise<void> {
    this.over.abort();
    await Promise.all(this.loops);
  }

  private async repeat(apiKey: string, body: Body, timeoutMs = DEADLINE_MS): Promise<void> {
    while (!this.over.signal.aborted) {
      this.note(`${body.model} ${await this.complete(apiKey, body, timeoutMs)}`);
      await sleep(PAUSE_MS);
    }
  }

  /** Conversations of several turns. */
  private async repeatTalk(apiKey: string, name: string): Promise<void> {
    for (let talk = 0; !this.over.signal.aborted; talk += 1) {
      const messages = [{ role: 'system', content: `${name} ${talk}: ${LONG}` }];
      for (let turn = 0; turn < TURNS && !this.over.signal.aborted; turn += 1) {
        messages.push({ role: 'user', content: `Question ${turn}` });
        const body = { model: 'talking', messages, max_tokens: 5, stream: true };
        this.note(`talking ${await this.post(apiKey, { path: 'chat/completions', body }, DEADLINE_MS)}`);
        messages.push({ role: 'assistant', content: 'Something.' });
        await sleep(PAUSE_MS);
      }
    }
  }

  /** Wallets that sign in and have paid, or that send another wallet's signature. */
  private async repeatPaying(): Promise<void> {
    const { apiUrl, chain } = this.addresses;
    const { origin } = new URL(apiUrl);
    while (!this.over.signal.aborted) {
      const { wallet, fetch: paying } = await buyer(chain, 100);
      const init = { method: 'POST', signal: AbortSignal.timeout(DEADLINE_MS) };
      const paid = await paying(`${apiUrl}/x402/top-up?amount=5`, init).catch(() => undefined);
      this.note(`paid ${paid?.status}`);
      for (const header of [
        await wallet.signIn(challengeOf(origin)),
        await contractSignIn(origin, wallet, evmWallet()),
      ])
        this.note(`sign-in ${await this.statusOf(wallet.address, header)}`);
      await sleep(PAUSE_MS);
    }
  }

  private async statusOf(address: string, header: string): Promise<number | undefined> {
    const response = await fetch(`${this.addresses.apiUrl}/x402/balance/${address}`, {
      headers: { 'SIGN-IN-WITH-X': header },
      signal: AbortSignal.timeout(DEADLINE_MS),
    }).catch(() => undefined);
    return response?.status;
  }

  private note(outcome: string): void {
    this.seen.set(outcome, 1 + (this.seen.get(outcome) ?? 0));
  }

  private complete(apiKey: string, body: Body, timeoutMs: number): Promise<string> {
    const messages = [{ role: 'user', content: 'Say something long.' }];
    return this.post(apiKey, { path: 'chat/completions', body: { messages, ...body } }, timeoutMs);
  }

  /** Orders videos that nobody retrieves. */
  private async repeatJob(apiKey: string, model: string): Promise<void> {
    const body = { model, prompt: 'A cat', duration: '5s', aspect_ratio: '16:9', resolution: '480p' };
    while (!this.over.signal.aborted) {
      this.note(`${model} ${await this.post(apiKey, { path: 'video/queue', body }, DEADLINE_MS)}`);
      await sleep(JOB_PAUSE_MS, undefined, { signal: this.over.signal }).catch(() => undefined);
    }
  }

  /** The status of the response, or `left` if the client disconnected first. */
  private async post(
    apiKey: string,
    { path, body }: { readonly path: string; readonly body: object },
    timeoutMs: number,
  ): Promise<string> {
    try {
      const response = await fetch(`${this.addresses.apiUrl}/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.text();
      return String(response.status);
    } catch {
      return 'left';
    }
  }
}

/** Calls the operator's API. */
async function operate(
  { operatorUrl, operatorToken }: PlatformAddresses,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: object },
): Promise<Record<string, unknown>> {
  const response = await fetch(operatorUrl + path, {
    method,
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
}

/** The key of a new account with this credit. */
async function accountOf(addresses: PlatformAddresses, usd?: string): Promise<string> {
  const post = (path: string, body: object): Promise<Record<string, unknown>> =>
    operate(addresses, { method: 'POST', path, body });
  const { id } = await post('/accounts', { name: 'observed' });
  if (usd !== undefined) await post(`/accounts/${String(id)}/credits`, { usd, reference: 'start' });
  const { apiKey } = await post(`/accounts/${String(id)}/api_keys`, {
    apiKeyType: 'INFERENCE',
    description: '',
  });
  return String(apiKey);
}

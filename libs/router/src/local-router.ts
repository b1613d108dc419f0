import {
  type ChunkStream,
  type Completion,
  type InferenceCall,
  InferenceRouter,
  Problem,
} from '@svc/contracts';
import type { Catalog } from '@svc/runtime';
import { BackendEvents } from './backend-events.js';
import type { BackendPool, LiveBackend } from './backend-pool.js';
import { type Refusal, failureOf, refusalOf } from './backend-refusal.js';
import { Exchange, type ExchangeRequest } from './exchange.js';
import type { RouterConfig } from './router.config.js';

/** A refusal's body is read up to this many bytes: enough for any message. */
const REFUSAL_LIMIT_BYTES = 64 * 1024;

/** How an answer is taken, and how long its parts may take. */
interface Mode<Answer> {
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly take: (exchange: Exchange, live: LiveBackend) => Promise<Answer>;
}

export interface RouterSettings extends RouterConfig {
  /** The value of an environment variable that a backend's `apiKeyEnv` names. */
  readonly secret: (name: string) => string | undefined;
}

/** Asks the backends of the catalogue, one after the other until one begins to answer. */
export class LocalRouter extends InferenceRouter {
  constructor(
    private readonly catalog: Catalog,
    private readonly pool: BackendPool,
    private readonly settings: RouterSettings,
  ) {
    super();
  }

  override complete(call: InferenceCall, signal: AbortSignal): Promise<Completion> {
    return this.firstThatAnswers(call, signal, {
      headersTimeoutMs: this.settings.ROUTER_COMPLETE_TIMEOUT_MS,
      bodyTimeoutMs: this.settings.ROUTER_COMPLETE_TIMEOUT_MS,
      take: async (exchange, live) => {
        const body = await exchange.text(this.settings.ROUTER_ANSWER_LIMIT_BYTES);
        return { backend: live.name, body };
      },
    });
  }

  override stream(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream> {
    return this.firstThatAnswers(call, signal, {
      headersTimeoutMs: this.settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      bodyTimeoutMs: this.settings.ROUTER_STALL_TIMEOUT_MS,
      take: async (exchange, live) => {
        const events = new BackendEvents(exchange);
        await events.begin();
        return { backend: live.name, events };
      },
    });
  }

  private async firstThatAnswers<Answer>(
    call: InferenceCall,
    signal: AbortSignal,
    mode: Mode<Answer>,
  ): Promise<Answer> {
    const backends = this.catalog.find(call.model)?.backends ?? [];
    let refusal: Refusal | undefined;
    for (const live of this.pool.candidates(backends, call.cacheKey)) {
      if (!live.hasRoom) {
        refusal ??= { problem: new Problem('MODEL_AT_CAPACITY'), elsewhere: true, coolDown: false };
        continue;
      }
      let exchange: Exchange | undefined;
      try {
        exchange = await this.ask(live, { ...this.request(live, call), ...mode }, signal);
        if (exchange.status === 200) return await mode.take(exchange, live);
        refusal = refusalOf(
          exchange.status,
          await exchange.text(REFUSAL_LIMIT_BYTES),
          exchange.retryAfterSeconds,
        );
      } catch (error) {
        exchange?.abort();
        refusal = failureOf(error);
      }
      if (refusal.coolDown) live.coolDown(performance.now() + this.settings.ROUTER_COOL_DOWN_MS);
      if (!refusal.elsewhere || signal.aborted) break;
    }
    throw refusal?.problem ?? new Problem('MODEL_OFFLINE');
  }

  private ask(live: LiveBackend, request: ExchangeRequest, signal: AbortSignal): Promise<Exchange> {
    live.inFlight += 1;
    const onEnd = (): void => {
      live.inFlight -= 1;
    };
    return Exchange.start(live.dispatcher, request, { signal, onEnd });
  }

  private request(
    live: LiveBackend,
    call: InferenceCall,
  ): Pick<ExchangeRequest, 'origin' | 'path' | 'headers' | 'body'> {
    const { backend, origin, path } = live;
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'x-request-id': call.requestId,
    };
    const key = backend.apiKeyEnv === undefined ? undefined : this.settings.secret(backend.apiKeyEnv);
    if (key !== undefined) headers['authorization'] = `Bearer ${key}`;
    const body = `{"model":${JSON.stringify(backend.model)},${call.body.slice(1)}`;
    return { origin, path, headers, body };
  }
}

import {
  type Answering,
  type ChunkStream,
  type Completion,
  type InferenceCall,
  InferenceRouter,
  Problem,
} from '@svc/contracts';
import type { Catalog } from '@svc/runtime';
import { AnswerBytes } from './answer-bytes.js';
import type { BackendPool, LiveBackend } from './backend-pool.js';
import { BackendError, type Refusal, refusalOf } from './backend-refusal.js';
import { Exchange, type ExchangeRequest } from './exchange.js';
import { firstEvent } from './first-event.js';
import type { RouterConfig } from './router.config.js';
import { errorStatus } from './told-error.js';

/** An error's body is read up to this many bytes, and for so long: enough for any message. */
const ERROR_LIMIT_BYTES = 64 * 1024;
const ERROR_READ_MS = 5_000;

/** How an answer is taken, and how long its parts may take. */
interface Mode<Part> {
  /** How long all backends together may take, to the first event of a stream or to the end of a whole answer. */
  readonly deadlineMs: number;
  readonly pauseMs: number;
  /** Throws what another backend might do better. */
  readonly take: (exchange: Exchange) => Promise<Part>;
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
    catalog.onReplaced(() => pool.keep(catalog.backends()));
  }

  override complete(call: InferenceCall, signal: AbortSignal): Promise<Completion> {
    return this.firstThatAnswers(call, signal, {
      deadlineMs: this.settings.ROUTER_COMPLETE_TIMEOUT_MS,
      pauseMs: this.settings.ROUTER_COMPLETE_TIMEOUT_MS,
      take: async (exchange) => {
        const body = await exchange.text(this.settings.ROUTER_ANSWER_LIMIT_BYTES);
        const status = body.length > ERROR_LIMIT_BYTES ? undefined : errorStatus(body);
        if (status !== undefined) throw new BackendError(status, body);
        return { body };
      },
    });
  }

  override stream(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream> {
    return this.firstThatAnswers(call, signal, {
      deadlineMs: this.settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      pauseMs: this.settings.ROUTER_STALL_TIMEOUT_MS,
      take: async (exchange) => {
        const { ROUTER_STREAM_LIMIT_BYTES: limitBytes } = this.settings;
        const bytes = new AnswerBytes(exchange, { first: await firstEvent(exchange), limitBytes });
        exchange.endWithin(this.settings.ROUTER_STREAM_TIMEOUT_MS);
        return { bytes };
      },
    });
  }

  private async firstThatAnswers<Part>(
    call: InferenceCall,
    signal: AbortSignal,
    mode: Mode<Part>,
  ): Promise<Part & Answering> {
    const { backends = [] } = this.catalog.find(call.model) ?? {};
    const endMs = performance.now() + mode.deadlineMs;
    let refusal: Refusal | undefined;
    let retries = 0;
    for (const live of this.pool.candidates(backends, call.cacheKey)) {
      if (!live.hasRoom) {
        refusal ??= { problem: new Problem('MODEL_AT_CAPACITY'), elsewhere: true, coolDown: false };
        continue;
      }
      let exchange: Exchange | undefined;
      try {
        const deadlineMs = Math.max(1, endMs - performance.now());
        const request = { ...this.request(live, call), pauseMs: mode.pauseMs, deadlineMs };
        exchange = await Exchange.start(this.pool.agent, request, { signal, onEnd: live.take() });
        await refuseFailure(exchange);
        return { backend: live.name, retries, ...(await mode.take(exchange)) };
      } catch (error) {
        exchange?.abort();
        refusal = refusalOf(error, call.body);
      }
      retries += 1;
      if (refusal.coolDown) live.coolDown(performance.now() + this.settings.ROUTER_COOL_DOWN_MS);
      if (!refusal.elsewhere || signal.aborted) break;
    }
    throw refusal?.problem ?? new Problem('MODEL_OFFLINE');
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

/** Throws what an answer's head says is no answer. */
async function refuseFailure(exchange: Exchange): Promise<void> {
  const { status, encoding = 'identity', retryAfterSeconds } = exchange;
  if (status !== 200) {
    exchange.endWithin(ERROR_READ_MS);
    const body = await exchange.beginning(ERROR_LIMIT_BYTES).catch(() => '');
    throw new BackendError(status, body, retryAfterSeconds);
  }
  // None was asked for, and a few bytes of one can be any number of others.
  if (encoding !== 'identity') throw new Error('the answer has an encoding that was not asked for');
}

import {
  type Answering,
  type ChunkStream,
  type Completion,
  type InferenceCall,
  InferenceRouter,
  Problem,
} from '@svc/contracts';
import { type AnswerHeaders, type Catalog, Exchange, type ExchangeRequest } from '@svc/runtime';
import { type Step, router, tracing } from '@svc/telemetry';
import { beginAttempt, ending } from './backends/attempt-step.js';
import { AnswerBytes } from './backends/answer-bytes.js';
import type { BackendPool, LiveBackend } from './backends/backend-pool.js';
import { BackendError, type Refusal, refusalOf } from './backends/backend-refusal.js';
import { firstEvent } from './backends/first-event.js';
import type { RouterConfig } from './router.config.js';
import { errorStatus } from './backends/told-error.js';

/** The beginning of a body up to this size is joined with what goes before it. */
const JOINED_BYTES = 262_144;

/** What an answer has and nothing else; whether it is sound is seen where it is read. */
const CHOICES = /"choices"\s*:\s*\[\s*\{/;

/** An error's body is read up to this many bytes, and for so long: enough for any message. */
const ERROR_LIMIT_BYTES = 64 * 1024;
const ERROR_READ_MS = 5_000;

/** The longest `Retry-After` of a backend that is passed on. */
const RETRY_AFTER_LIMIT_SECONDS = 3_600;

/** How an answer is taken, and how long its parts may take. */
interface Mode<Part> {
  /** How long all backends together may take, to the first event of a stream or to the end of a whole answer. */
  readonly deadlineMs: number;
  readonly pauseMs: number;
  readonly isStream: boolean;
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
      isStream: false,
      take: async (exchange) => {
        const body = await exchange.text(this.settings.ROUTER_ANSWER_LIMIT_BYTES);
        const status = body.length > ERROR_LIMIT_BYTES ? undefined : errorStatus(body);
        if (status !== undefined) throw new BackendError(status, body);
        if (!CHOICES.test(body)) throw new Error('the answer has no choices');
        return { body };
      },
    });
  }

  override stream(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream> {
    return this.firstThatAnswers(call, signal, {
      deadlineMs: this.settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      pauseMs: this.settings.ROUTER_STALL_TIMEOUT_MS,
      isStream: true,
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
        router.attempts.add(1, call.model, live.name, 'full');
        refusal ??= { problem: new Problem('MODEL_AT_CAPACITY'), elsewhere: true, coolDown: false };
        continue;
      }
      let exchange: Exchange | undefined;
      const step = beginAttempt(live, { model: call.model, number: retries + 1 });
      const startMs = performance.now();
      if (retries > 0) router.retries.add(1, call.model);
      try {
        const deadlineMs = Math.max(1, endMs - performance.now());
        const request = { ...this.request(live, call, step), pauseMs: mode.pauseMs, deadlineMs };
        exchange = await Exchange.start(this.pool.agent, request, { signal, onEnd: ending(live, step) });
        await refuseFailure(exchange);
        const part = await mode.take(exchange);
        step?.note('first chunk');
        router.attempts.add(1, call.model, live.name, 'answered');
        if (mode.isStream)
          router.firstChunk.record((performance.now() - startMs) / 1_000, call.model, live.name);
        return { backend: live.name, retries, ...part };
      } catch (error) {
        refusal = refusalOf(error, call.body);
        router.attempts.add(1, call.model, live.name, outcomeOf(refusal, signal));
        // Only now the call ends: what the backend said is known better than that it was let go.
        step?.fail(signal.aborted ? error : refusal.problem);
        exchange?.abort();
      }
      retries += 1;
      if (refusal.coolDown) {
        router.ejections.add(1, call.model, live.name);
        live.coolDown(performance.now() + this.settings.ROUTER_COOL_DOWN_MS);
      }
      if (!refusal.elsewhere || signal.aborted) break;
    }
    throw refusal?.problem ?? new Problem('MODEL_OFFLINE');
  }

  private request(
    live: LiveBackend,
    call: InferenceCall,
    step: Step | undefined,
  ): Pick<ExchangeRequest, 'origin' | 'path' | 'headers' | 'body'> {
    const { backend, origin, path } = live;
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'x-request-id': call.requestId,
    };
    const key = backend.apiKeyEnv === undefined ? undefined : this.settings.secret(backend.apiKeyEnv);
    if (key !== undefined) headers['authorization'] = `Bearer ${key}`;
    if (step && tracing.tellsBackends) headers['traceparent'] = step.traceparent;
    const [first = new Uint8Array(), ...others] = call.body;
    const model = Buffer.from(`{"model":${JSON.stringify(backend.model)},`);
    const rest = first.subarray(1);
    const body = rest.length > JOINED_BYTES ? [model, rest] : [Buffer.concat([model, rest])];
    return { origin, path, headers, body: [...body, ...others] };
  }
}

/** What became of an attempt that has no answer, for metrics. */
function outcomeOf({ elsewhere, coolDown }: Refusal, signal: AbortSignal): string {
  if (signal.aborted) return 'aborted';
  return elsewhere || coolDown ? 'failed' : 'refused';
}

/** Throws what an answer's head says is no answer. */
async function refuseFailure(exchange: Exchange): Promise<void> {
  const { status, headers } = exchange;
  if (status !== 200) {
    exchange.endWithin(ERROR_READ_MS);
    const body = await exchange.beginning(ERROR_LIMIT_BYTES).catch(() => '');
    throw new BackendError(status, body, retryAfterOf(headers));
  }
  // None was asked for, and a few bytes of one can be any number of others.
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new Error('the answer has an encoding that was not asked for');
}

function retryAfterOf({ 'retry-after': text }: AnswerHeaders): number | undefined {
  const seconds = Number(text);
  return seconds >= 0 ? Math.min(Math.ceil(seconds), RETRY_AFTER_LIMIT_SECONDS) : undefined;
}

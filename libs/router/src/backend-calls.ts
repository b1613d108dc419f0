import type { Catalog } from '@svc/catalog';
import type { ChunkStream, ServedBy } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { Exchange, ExchangeAborted } from '@svc/runtime';
import { OTHER, router } from '@svc/telemetry';
import { BackendRequests } from './backend-requests.js';
import { Attempt } from './backends/attempt.js';
import type { BackendPool, LiveBackend } from './backends/backend-pool.js';
import { type Refusal, type SentRequest, reasonForLogs, refusalOf } from './backends/backend-refusal.js';
import type { CallMode, RoutedCall, StreamStart } from './backends/call-mode.js';
import { goesElsewhere, mayBeCalled, mayRepeat, outcomeOf } from './backends/next-backend.js';
import { places } from './backends/places.js';
import { refuseFailure } from './backends/refuse-failure.js';
import { ResponseBytes } from './backends/response-bytes.js';
import { BackendError } from './dialects/backend-error.js';
import { type CheckSettings, NodeChecks } from './nodes/node-checks.js';
import type { RouterConfig } from './router.config.js';

export interface RouterSettings extends RouterConfig {
  /** Returns the environment variable that a backend's `apiKeyEnv` names. */
  readonly secret: (name: string) => string | undefined;
}

/** Error statuses with their own metric label. */
const COUNTED_STATUSES: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 501, 502, 503, 504,
]);

/** Client errors that show no fault of the request or the catalogue: a timeout, a rate limit. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 429]);

/**
 * Calls of backends, of whatever kind: those of a model one after the other until one begins to respond.
 */
export class BackendCalls {
  readonly nodes: NodeChecks;
  readonly requests: BackendRequests;

  constructor(
    readonly catalog: Catalog,
    readonly pool: BackendPool,
    readonly settings: RouterSettings & CheckSettings,
  ) {
    this.nodes = new NodeChecks(catalog, pool, settings);
    this.requests = new BackendRequests(settings.secret);
    catalog.onReplaced(() => pool.keep(catalog.backends()));
  }

  /** The mode for responses that are not streamed. */
  get whole(): Pick<CallMode<never>, 'deadlineMs' | 'pauseMs' | 'isStream'> {
    const { ROUTER_COMPLETE_TIMEOUT_MS: limitMs } = this.settings;
    return { deadlineMs: limitMs, pauseMs: limitMs, isStream: false };
  }

  /** A response that is passed on as it arrives, from its beginning on. */
  streamed(
    call: RoutedCall,
    signal: AbortSignal,
    { body, first, serves }: StreamStart & Pick<CallMode<never>, 'body'>,
  ): Promise<ChunkStream> {
    const { settings } = this;
    return this.firstAvailable(call, signal, {
      deadlineMs: settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      pauseMs: settings.ROUTER_STREAM_IDLE_TIMEOUT_MS,
      isStream: true,
      body,
      serves,
      take: async (exchange, live) => {
        const limitBytes = settings.ROUTER_STREAM_LIMIT_BYTES;
        const bytes = new ResponseBytes(exchange, { first: await first(exchange, live), limitBytes });
        exchange.endWithin(settings.ROUTER_STREAM_TIMEOUT_MS);
        return { bytes };
      },
    });
  }

  async firstAvailable<Part>(
    call: RoutedCall,
    signal: AbortSignal,
    mode: CallMode<Part>,
  ): Promise<Part & ServedBy> {
    const endMs = performance.now() + mode.deadlineMs;
    let refusal: Refusal | undefined;
    let retries = 0;
    const { kind = 'chat', backends = this.catalog.backendsOf(call.model) } = call;
    const able = this.pool
      .candidates(backends, call)
      .filter(
        (live) =>
          live.dialect.paths[kind] !== undefined && mayBeCalled(live, call) && (mode.serves?.(live) ?? true),
      );
    const candidates = mode.order ? await mode.order(able) : able;
    const { connections } = this.pool;
    const fresh = mayRepeat(kind, candidates) ? connections.fresh : undefined;
    const waitMs = Math.min(this.settings.ROUTER_QUEUE_TIMEOUT_MS, mode.deadlineMs);
    for await (const place of places(candidates, { accountId: call.accountId, waitMs, signal })) {
      const { live } = place;
      let exchange: Exchange | undefined;
      const attempt = new Attempt(place, {
        kind,
        model: call.model,
        isStream: mode.isStream,
        number: retries + 1,
      });
      if (retries > 0) router.retries.add(1, call.model);
      try {
        const deadlineMs = Math.max(1, Math.min(mode.attemptMs ?? Infinity, endMs - performance.now()));
        const request = {
          ...this.requests.of({ live, call, step: attempt.step }, mode),
          pauseMs: mode.pauseMs,
          deadlineMs,
        };
        exchange = await Exchange.start(connections.kept, request, { signal, onEnd: attempt.ended, fresh });
        if (!mode.anyStatus) await refuseFailure(exchange);
        const part = await mode.take(exchange, live);
        attempt.began();
        live.cooldown.succeeded();
        router.attempts.add(1, call.model, live.name, 'answered');
        return { backend: live.name, retries, ...part };
      } catch (error) {
        const sent = this.sentTo(live, call);
        refusal = refusalOf(error, sent);
        refusal = { ...refusal, elsewhere: goesElsewhere(kind, error, refusal) };
        if (error instanceof BackendError) this.report(error, sent, { live, call });
        router.attempts.add(1, call.model, live.name, outcomeOf(refusal, signal));
        // Recorded before the abort, since the backend's error is more telling than the abort.
        attempt.failed(signal.aborted ? error : refusal.problem);
        exchange?.abort();
      }
      retries += 1;
      if (live.cooldown.begin(refusal.cooldown, call.accountId, this.settings.ROUTER_COOL_DOWN_MS))
        router.ejections.add(1, call.model, live.name);
      if (!refusal.elsewhere || signal.aborted) break;
    }
    if (refusal) throw refusal.problem;
    if (signal.aborted)
      throw new Problem('INFERENCE_FAILED', { cause: new ExchangeAborted('left while waiting') });
    throw this.unasked(call.model, candidates);
  }

  /** What a backend got, for reading what it says about it. */
  private sentTo(live: LiveBackend, call: RoutedCall): SentRequest {
    const { kind, body, encryption } = call;
    return {
      kind,
      body: typeof body === 'function' ? body() : body,
      secrets: this.requests.secretsOf(live, call),
      isEncrypted: encryption !== undefined,
    };
  }

  /** The problem when no backend was called: the model has none, or no slot became free in time. */
  private unasked(model: string, candidates: readonly LiveBackend[]): Problem {
    for (const { name } of candidates) router.attempts.add(1, model, name, 'full');
    return new Problem(candidates.length > 0 ? 'MODEL_AT_CAPACITY' : 'MODEL_OFFLINE');
  }

  /** Counts an error response, and logs one that shows a fault of the request or of the catalogue. */
  private report(
    error: BackendError,
    sent: SentRequest,
    { live, call: { model, requestId } }: { readonly live: LiveBackend; readonly call: RoutedCall },
  ): void {
    const { status } = error;
    router.errors.add(1, model, live.name, COUNTED_STATUSES.has(status) ? String(status) : OTHER);
    if (status >= 500 || PASSING_STATUSES.has(status)) return;
    const fields = { requestId, model, backend: live.name, status, reason: reasonForLogs(error, sent) };
    this.settings.log.warn(fields, 'a backend rejected a request');
  }
}

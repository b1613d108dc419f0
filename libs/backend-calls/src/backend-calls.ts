import type { ServedBy } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { Exchange, ExchangeAborted, type ExchangeRequest, ExchangeTimedOut, type Logger } from '@svc/runtime';
import { OTHER, type Step, router, tracing } from '@svc/telemetry';
import { BackendError } from './backend-error.js';
import { placeRequestOf } from './call-share.js';
import { workOf } from './call-work.js';
import { Attempt } from './attempt.js';
import { AttemptLimits } from './attempt-limits.js';
import type { BackendPool, LiveBackend } from './backend-pool.js';
import { type Refusal, type SentRequest, reasonForLogs, refusalOf } from './backend-refusal.js';
import type { CallMode, CallPlan, Candidate, RoutedCall } from './call-mode.js';
import { Credentials } from './credentials.js';
import type { CooldownScope } from './health/backend-health.js';
import { mayRetry } from './health/retry-budget.js';
import { goesElsewhere, mayRepeat, outcomeOf } from './next-backend.js';
import { Places } from './places.js';
import { refuseFailure } from './refuse-failure.js';

interface BackendCallSettings {
  /** How long a call waits when all of its backends are full. */
  readonly ROUTER_QUEUE_TIMEOUT_MS: number;
  /** How long a backend that failed is called last, the first time. */
  readonly ROUTER_COOL_DOWN_MS: number;
  /** How long the first backend of a stream may take to begin, if there is another one. */
  readonly ROUTER_ATTEMPT_TIMEOUT_MS: number;
  /** Returns the environment variable that a backend's `apiKeyEnv` names. */
  readonly secret: (name: string) => string | undefined;
  readonly log: Logger;
}

/** A backend that can be called, and how. */
interface PlannedCall<Part> extends Candidate {
  readonly plan: CallPlan<Part>;
}

/** Whose call it is at a backend, its step in the trace, and how long it may take. */
interface CallStep extends Pick<ExchangeRequest, 'pauseMs' | 'deadlineMs'> {
  readonly call: RoutedCall;
  readonly step: Step | undefined;
  readonly signal: AbortSignal;
}

/** An attempt that has failed, and its call. */
interface FailedAttempt {
  readonly call: RoutedCall;
  readonly to: PlannedCall<unknown>;
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
}

/** Error statuses with their own metric label. */
const COUNTED_STATUSES: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 501, 502, 503, 504,
]);

/** Client errors that show no fault of the request or the catalogue: a timeout, a rate limit. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 429]);

const UNAUTHORIZED = 401;

const REASON_CHARACTERS = 200;

const OUT_OF_SERVICE =
  'All servers of this model are out of service for maintenance. Please try again later, or use another model.';

/** For whom a backend is to be called last, and why, in words for the operator. */
function cooldownOf({ cooldown: scope, problem }: Refusal): { scope: CooldownScope; reason: string } {
  const { cause, code } = problem;
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : code;
  return { scope, reason: reason.slice(0, REASON_CHARACTERS) };
}

/** Calls of backends, of whatever kind: one after the other until one begins to respond. */
export class BackendCalls {
  readonly credentials: Credentials;

  constructor(
    readonly pool: BackendPool,
    private readonly settings: BackendCallSettings,
  ) {
    this.credentials = new Credentials(settings.secret);
  }

  async first<Part>(call: RoutedCall, signal: AbortSignal, mode: CallMode<Part>): Promise<Part & ServedBy> {
    const endMs = performance.now() + mode.deadlineMs;
    let refusal: Refusal | undefined;
    let retries = 0;
    const { kind = 'chat', model, accountId } = call;
    const work = workOf(call, mode.isStream);
    const able = plannedCalls(this.pool.candidates(call.backends, call, work), mode);
    const candidates = mode.order ? await mode.order(able) : able;
    const { connections } = this.pool;
    const fresh = mayRepeat(kind, candidates.length) ? connections.fresh : undefined;
    const waitMs = Math.min(this.settings.ROUTER_QUEUE_TIMEOUT_MS, mode.deadlineMs);
    const places = new Places(candidates, placeRequestOf(call, waitMs, signal));
    const limits = new AttemptLimits(mode, this.settings.ROUTER_ATTEMPT_TIMEOUT_MS);
    for (;;) {
      const next = places.next();
      const place = next instanceof Promise ? await next : next;
      if (!place) break;
      const { to, giveBack, isShared } = place;
      const { live, plan } = to;
      // It has been taken out of service while the call waited there.
      if (this.isOut(call, live)) {
        giveBack();
        continue;
      }
      const number = retries + 1;
      const slot = { live, giveBack, isShared, isQueued: plan.isQueued === true, accountId };
      const attempt = new Attempt(slot, { kind, model, isStream: mode.isStream, number, work });
      if (retries > 0) router.retries.add(1, model);
      const leftMs = endMs - performance.now();
      const limitMs = limits.of(live, { leftMs, isLast: number === candidates.length });
      try {
        const { pauseMs } = mode;
        const calling = { call, step: attempt.step, signal, pauseMs, deadlineMs: Math.max(1, limitMs) };
        const target = this.requestOf(to, calling);
        const request = target instanceof Promise ? await target : target;
        const keepsEnd = work !== undefined || isShared;
        const options = { signal, onEnd: attempt.ended, fresh, keepsEnd, holder: attempt };
        const exchange = await Exchange.start(connections.kept, request, options);
        const taking = taken(exchange, to, mode);
        const part = taking instanceof Promise ? await taking : taking;
        attempt.began();
        router.attempts.add(1, model, live.name, 'answered');
        return { backend: live.name, retries, ...part };
      } catch (error) {
        refusal = this.refused(error, { call, to, attempt, signal });
        if (error instanceof ExchangeTimedOut) refusal = limits.cut(refusal, limitMs < leftMs);
      }
      retries += 1;
      this.keepOff(live, refusal, call);
      if (!refusal.elsewhere || signal.aborted || performance.now() >= endMs) break;
      if (!mayRetry(live, candidates)) {
        router.retriesRefused.add(1, model);
        break;
      }
    }
    if (refusal) throw refusal.problem;
    if (signal.aborted)
      throw new Problem('INFERENCE_FAILED', { cause: new ExchangeAborted('left while waiting') });
    throw this.unasked(call, candidates);
  }

  /** What a failure means, recorded. */
  private refused(error: unknown, { call, to: { live, plan }, attempt, signal }: FailedAttempt): Refusal {
    const { kind = 'chat', model } = call;
    const sent = this.sentTo(live, call);
    const read = refusalOf(error, sent);
    const refusal = { ...read, elsewhere: goesElsewhere(kind, error, read) };
    if (error instanceof BackendError) this.report(error, sent, { live, call });
    if (error instanceof BackendError && error.status === UNAUTHORIZED) plan.authorization?.refused();
    router.attempts.add(1, model, live.name, outcomeOf(refusal, signal));
    // Recorded before the abort, since the backend's error is more telling than the abort.
    attempt.failed(signal.aborted ? error : refusal.problem);
    attempt.abort();
    return refusal;
  }

  /** Calls a backend last for a while, after a failure that may not be the request's. */
  private keepOff(live: LiveBackend, refusal: Refusal, { accountId, model }: RoutedCall): void {
    const { health } = live;
    if (refusal.restMs !== undefined) health.rest(refusal.restMs);
    if (!health.failed(cooldownOf(refusal), accountId, this.settings.ROUTER_COOL_DOWN_MS)) return;
    live.work.forget();
    router.ejections.add(1, model, live.name, 'failure');
  }

  /** Whether a backend is out of service for a call, unless that names it. */
  private isOut({ backend, model }: RoutedCall, { name }: LiveBackend): boolean {
    return backend === undefined && this.pool.drains.of(model, name) !== undefined;
  }

  /** A promise only for a call that shows who makes it by more than a key. */
  private requestOf<Part>(
    { live, plan }: PlannedCall<Part>,
    { call: { requestId, encryption }, step, signal, pauseMs, deadlineMs }: CallStep,
  ): ExchangeRequest | Promise<ExchangeRequest> {
    const key = this.credentials.keyOf(live);
    const usual = plan.headers({ requestId, key, encryption });
    if (step) tracing.toBackend(step, usual);
    const { method = 'POST', path: ofPlan, headers: own, body } = plan.request();
    const { origin } = live;
    const path = `${live.basePath}${ofPlan}` || '/';
    const headers = own ? { ...usual, ...own } : usual;
    const built = { method, origin, path, headers, body, pauseMs, deadlineMs };
    if (!plan.authorization) return built;
    const shown = plan.authorization.headersOf({ method, origin, path, body: body ?? [], key });
    const whole = shown.then((more) => ({ ...built, headers: { ...built.headers, ...more } }));
    return whileWanted(whole, signal);
  }

  /** What a backend got, for reading what it says about it. */
  private sentTo(live: LiveBackend, call: RoutedCall): SentRequest {
    const { kind, body, encryption } = call;
    return {
      kind,
      body: typeof body === 'function' ? body() : body,
      secrets: this.credentials.hiddenOf(live, call.model),
      isEncrypted: encryption !== undefined,
    };
  }

  /**
   * The problem when no backend was called: the model has none, none is in service, or no slot became free in
   * time.
   */
  private unasked({ model, backends }: RoutedCall, candidates: readonly Candidate[]): Problem {
    const { drains } = this.pool;
    const isDrained = ({ name }: LiveBackend): boolean => drains.of(model, name) !== undefined;
    const inService = candidates.filter(({ live }) => !isDrained(live));
    for (const { live } of inService) router.attempts.add(1, model, live.name, 'full');
    if (inService.length > 0) return new Problem('MODEL_AT_CAPACITY');
    const all = this.pool.candidates(backends);
    if (all.length === 0 || !all.every(isDrained)) return new Problem('MODEL_OFFLINE');
    return new Problem('MODEL_OFFLINE', { message: OUT_OF_SERVICE });
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

/** The calls of backends that can do what is asked, with their requests. */
function plannedCalls<Part>(
  candidates: readonly LiveBackend[],
  mode: CallMode<Part>,
): readonly PlannedCall<Part>[] {
  const able: PlannedCall<Part>[] = [];
  for (const live of candidates) {
    const plan = mode.at(live);
    if (plan) able.push({ live, plan });
  }
  return able;
}

/** What a call waits for, such as a token, unless its caller leaves first. */
async function whileWanted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(new ExchangeAborted('left while its call was authorized'));
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Reads a response; a promise unless all of it has arrived. */
function taken<Part>(
  exchange: Exchange,
  { plan }: PlannedCall<Part>,
  { anyStatus }: CallMode<Part>,
): Part | Promise<Part> {
  return (anyStatus ? undefined : refuseFailure(exchange)) ?? plan.take(exchange);
}

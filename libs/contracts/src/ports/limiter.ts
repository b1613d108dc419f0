import type { LimitType } from '../messages/limit-log.js';

/** What limits count: requests, or an amount that each request takes. */
export const LIMIT_UNITS = ['requests', 'tokens', 'credits'] as const;
export type LimitUnit = (typeof LIMIT_UNITS)[number];

/**
 * The owner of a limit: the account, the key, an end user of the account, or the whole service. Each limit is
 * for one resource, but those of end users are for all together.
 */
export const LIMIT_SCOPES = ['user', 'api_key', 'end_user', 'global'] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/** At most `max` of a unit in each window. Windows are fixed, and begin at multiples of their length. */
export interface Limit {
  readonly scope: LimitScope;
  readonly unit: LimitUnit;
  /** The length of a window, in milliseconds. */
  readonly windowMs: number;
  readonly max: number;
}

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

const LIMIT_TYPE_OF: Readonly<Record<LimitUnit, ReadonlyMap<number, LimitType>>> = {
  requests: new Map([
    [MINUTE_MS, 'RPM'],
    [DAY_MS, 'RPD'],
  ]),
  tokens: new Map([
    [MINUTE_MS, 'TPM'],
    [DAY_MS, 'TPD'],
  ]),
  credits: new Map([
    [MINUTE_MS, 'CPM'],
    [DAY_MS, 'CPD'],
  ]),
};

/** How the log and the public API name a limit. Throws if they have no name for its window. */
export function limitTypeOf({ unit, windowMs }: Pick<Limit, 'unit' | 'windowMs'>): LimitType {
  const type = LIMIT_TYPE_OF[unit].get(windowMs);
  if (type === undefined)
    throw new Error(`limits of ${unit} per ${windowMs} ms have no name in LIMIT_TYPE_OF`);
  return type;
}

/** Limits per minute under the names that they have in files, tables and the public API. */
export interface MinuteLimits {
  readonly requestsPerMinute?: number | null | undefined;
  readonly tokensPerMinute?: number | null | undefined;
  readonly creditsPerMinute?: number | null | undefined;
}

/** The limits that are set. */
export function perMinute(
  scope: LimitScope,
  { requestsPerMinute, tokensPerMinute, creditsPerMinute }: MinuteLimits,
): Limit[] {
  return limitsSet(scope, MINUTE_MS, [
    ['requests', requestsPerMinute],
    ['tokens', tokensPerMinute],
    ['credits', creditsPerMinute],
  ]);
}

/** Limits per UTC day under the names that they have in tables and the public API. */
export interface DayLimits {
  readonly requestsPerDay?: number | null | undefined;
  readonly tokensPerDay?: number | null | undefined;
}

/** The limits that are set. */
export function perDay(scope: LimitScope, { requestsPerDay, tokensPerDay }: DayLimits): Limit[] {
  return limitsSet(scope, DAY_MS, [
    ['requests', requestsPerDay],
    ['tokens', tokensPerDay],
  ]);
}

function limitsSet(
  scope: LimitScope,
  windowMs: number,
  maxima: readonly (readonly [LimitUnit, number | null | undefined])[],
): Limit[] {
  return maxima.flatMap(([unit, max]) =>
    max === null || max === undefined ? [] : [{ scope, unit, windowMs, max }],
  );
}

/** Quantities by unit. */
export type Amounts = { readonly [Unit in LimitUnit]?: number };

/** What is limited: a model, by its id, or a route, by its path. */
export interface LimitedResource {
  readonly kind: 'model' | 'route';
  readonly name: string;
}

export interface AdmitRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** Whose request of the account it is. */
  readonly endUser?: string;
  readonly resource: LimitedResource;
  readonly limits: readonly Limit[];
  /** What the request takes, estimated. Corrected by `settle`. */
  readonly amounts: Amounts;
  /** The subject whose failures count; see `Limiter.failed`. */
  readonly subject: string;
  /** The account's most concurrent requests; absent for no limit. */
  readonly concurrent?: number;
  /**
   * Set if a process has already admitted the request from its local share: the `endsAtMs` of that admission.
   * Such a request is booked: never rejected, counted only in windows that are still open, and counted once
   * however often it is booked while in progress.
   */
  readonly bookedEndsAtMs?: readonly number[];
}

/** A limit just after a request was admitted or rejected. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  /** When its window ends, in Unix milliseconds. */
  readonly resetAtMs: number;
}

/** A limit of a caller, for one resource. */
export interface ResourceLimit {
  readonly resource: LimitedResource;
  readonly limit: Limit;
}

/** The most limits of one `peek`. */
export const PEEKED_LIMITS = 500;

/** The limits of a caller whose counts are to be read. */
export interface LimitsPeek {
  readonly accountId: string;
  readonly keyId: string;
  /** At most `PEEKED_LIMITS`. */
  readonly limits: readonly ResourceLimit[];
}

/** What requests have taken of a limit in its current window. */
export interface TakenLimit {
  readonly taken: number;
  /** When the window ends, in Unix milliseconds. */
  readonly resetAtMs: number;
}

export interface TakenLimits {
  /** In the order of the limits asked about; absent while the shared count does not respond. */
  readonly limits?: readonly TakenLimit[];
}

/** What rejected a request: a limit, the number of concurrent requests, or the caller's failures. */
export type LimitRefusal =
  | { readonly of: 'limit'; readonly limit: Limit; readonly resetAtMs: number }
  | { readonly of: 'concurrent' | 'failures' };

export interface Admission {
  readonly admitted: boolean;
  /** What rejected the request; absent if it was admitted. */
  readonly refusedBy?: LimitRefusal;
  /** Set if the refusal may pass, as other requests may give back what they took within `PROVISIONAL_MS`. */
  readonly isProvisional?: boolean;
  /** For each limited unit, the limit with the least remaining. */
  readonly tightest: { readonly [Unit in LimitUnit]?: LimitState };
  /** When the request's windows end, in Unix milliseconds: those of its limits, each window once. */
  readonly endsAtMs: readonly number[];
  /** The scope of the limit that is nearest to being reached or, for a rejection, of the one that was. */
  readonly scope: LimitScope;
  /** How much longer the caller is blocked for its failures, in whole milliseconds; absent if not blocked. */
  readonly blockedForMs?: number;
  /** The process that decided from its local share; absent if the shared count did. */
  readonly countedBy?: string;
}

/**
 * The block after repeated failures. A remaining time, not a point in time, so that no two clocks have to
 * agree.
 */
export interface FailureBlock {
  /** The remaining time in whole milliseconds, at most `FAILURE_BLOCK_MS`; absent if not blocked. */
  readonly forMs?: number;
}

/**
 * Counts what requests take in fixed windows, concurrent requests, and failures. Limits degrade: no call
 * rejects because a store is down, and the wait for a store is bounded. A call that waits for nothing returns
 * its result instead of a promise.
 */
export abstract class Limiter {
  /**
   * Takes a request from all of its windows or from none, and from none while its caller is blocked,
   * atomically.
   */
  abstract admit(request: AdmitRequest): Admission | Promise<Admission>;

  /**
   * Corrects the estimated amounts of an admitted request to those used, and ends its place among concurrent
   * requests. Units that are not given keep their estimate.
   */
  abstract settle(request: AdmitRequest, admission: Admission, used: Amounts): Promise<void> | undefined;

  /** Undoes the admission of a request that something else rejected. */
  abstract release(request: AdmitRequest, admission: Admission): Promise<void> | undefined;

  /** Reads what requests have taken of limits, and takes nothing. */
  abstract peek(peek: LimitsPeek): Promise<TakenLimits>;

  /** Whether a subject (`key:<id>`, `wallet:<address>` or `ip:<address>`) is blocked for its failures. */
  abstract blocked(subject: string): Promise<FailureBlock>;

  /**
   * Counts a failure of a subject. The first beyond `FAILURES_ALLOWED` in a sliding `FAILURE_WINDOW_MS`
   * blocks the subject for `FAILURE_BLOCK_MS`, after which its count restarts.
   */
  abstract failed(subject: string): Promise<FailureBlock>;
}

/** A request in progress, as needed to renew its place. */
export interface UnderWay {
  readonly requestId: string;
  readonly accountId: string;
  /** The process that counted it alone, if any. */
  readonly countedBy?: string;
}

/** What a counting process does for others: the port, and renewing the places of requests in progress. */
export interface Limits extends Limiter {
  /** Restarts the leases of these requests. An expired place stays lost. */
  renew(live: readonly UnderWay[]): Promise<void>;
}

/** Source of the three: the abuse protection of the public interface. */
export const FAILURES_ALLOWED = 20;
export const FAILURE_WINDOW_MS = 30_000;
export const FAILURE_BLOCK_MS = 30_000;

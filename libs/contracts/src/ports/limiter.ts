/** The owner of a limit: the account for a model, the key, or the whole service for a model. */
export type LimitType = 'user' | 'api_key' | 'global';

/** Limits per minute. Absent ones are unlimited. */
export interface MinuteLimits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
}

export interface AdmitRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly limits: {
    readonly user: Required<MinuteLimits>;
    readonly api_key?: MinuteLimits;
    readonly global?: MinuteLimits;
  };
  /** The subject whose failures count; see `Limiter.failed`. */
  readonly subject: string;
  /** The account's most concurrent requests; absent for no limit. */
  readonly concurrent?: number;
  /** Prompt plus completion, estimated. Corrected by `settle`. */
  readonly tokens: number;
  /**
   * Set if a process has already admitted the request from its local share: the end of that window, in Unix
   * milliseconds. Such a request is booked: never rejected, counted only while that window is open, and
   * counted once however often it is booked while in progress.
   */
  readonly bookedResetAtMs?: number;
}

/**
 * A window's state just after a request was admitted or rejected: of several, the one with the least left.
 */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
}

/** What rejected a request: a limit, or the caller's failures. */
export interface LimitRefusal {
  readonly type: LimitType;
  readonly of: 'requests' | 'tokens' | 'concurrent' | 'failures';
}

export interface Admission {
  readonly admitted: boolean;
  /** What rejected the request; absent if it was admitted. */
  readonly refusedBy?: LimitRefusal;
  readonly requests: LimitState;
  readonly tokens: LimitState;
  /** When all windows end, in Unix milliseconds. */
  readonly resetAtMs: number;
  /** The limit that is nearest to being reached or, for a rejection, the one that was. */
  readonly type: LimitType;
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
 * Counts requests and tokens in fixed one-minute windows that begin with the minute, concurrent requests, and
 * failures. Limits degrade: no call rejects because a store is down, and the wait for a store is bounded.
 */
export abstract class Limiter {
  /**
   * Takes a request from all of its windows or from none, and from none while its caller is blocked,
   * atomically.
   */
  abstract admit(request: AdmitRequest): Promise<Admission>;

  /**
   * Corrects the estimate of an admitted request to the actual usage, and ends its place among concurrent
   * requests.
   */
  abstract settle(request: AdmitRequest, admission: Admission, tokensUsed: number): Promise<void>;

  /** Undoes the admission of a request that something else rejected. */
  abstract release(request: AdmitRequest, admission: Admission): Promise<void>;

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

/** Whose limit it is: the account's for a model, the key's, or the whole service's for a model. */
export type LimitType = 'user' | 'api_key' | 'global';

/** What fits into a minute. What is left out has no limit. */
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
  /** Whose failures count: as of `Limiter.failed`. */
  readonly subject: string;
  /** Requests that the account may have under way at once; without it any number. */
  readonly concurrent?: number;
  /** Prompt plus completion, estimated. Corrected by `settle`. */
  readonly tokens: number;
  /**
   * Set when a process has already admitted the request from its local share: the end of that window, in Unix
   * milliseconds. Such a request is booked: never refused, counted only while that window is open, and counted once
   * however often it is booked while it is under way.
   */
  readonly bookedResetAtMs?: number;
}

/** A window's state just after a request was admitted or refused: of several, the one with the least left. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
}

/** What refused: a limit, or the caller's failures. */
export interface LimitRefusal {
  readonly type: LimitType;
  readonly of: 'requests' | 'tokens' | 'concurrent' | 'failures';
}

export interface Admission {
  readonly admitted: boolean;
  /** What refused; absent when admitted. */
  readonly refusedBy?: LimitRefusal;
  readonly requests: LimitState;
  readonly tokens: LimitState;
  /** When all windows end, in Unix milliseconds. */
  readonly resetAtMs: number;
  /** Whose limit is nearest to being reached; of a refusal, whose limit refused. */
  readonly type: LimitType;
  /** How much longer the caller is blocked for its failures, in whole milliseconds; absent while it is not. */
  readonly blockedForMs?: number;
  /** The process that admitted or refused it from its local share; absent when the shared count did. */
  readonly countedBy?: string;
}

/** What repeated failures have come to. A time left and not a point in time: no two clocks have to agree on it. */
export interface FailureBlock {
  /** How much longer it lasts, in whole milliseconds, at most `FAILURE_BLOCK_MS`; absent while nothing is blocked. */
  readonly forMs?: number;
}

/**
 * Counts requests and tokens in fixed one-minute windows that begin with the minute, requests under way, and failures.
 * Limits degrade: no call rejects because a store is down, and none waits for one longer than a bound.
 */
export abstract class Limiter {
  /** Takes a request from all of its windows or from none, and from none while its caller is blocked, in one step. */
  abstract admit(request: AdmitRequest): Promise<Admission>;

  /** Corrects the estimate of an admitted request to what was really used, and ends its being under way. */
  abstract settle(request: AdmitRequest, admission: Admission, tokensUsed: number): Promise<void>;

  /** Gives an admitted request back as if it had not been, because something else refused it. */
  abstract release(request: AdmitRequest, admission: Admission): Promise<void>;

  /** Whether a subject (`key:<id>`, `wallet:<address>` or `ip:<address>`) is blocked for its failures. */
  abstract blocked(subject: string): Promise<FailureBlock>;

  /**
   * Counts a failure of a subject. The first beyond `FAILURES_ALLOWED` in a sliding `FAILURE_WINDOW_MS` blocks the
   * subject for `FAILURE_BLOCK_MS`, after which it starts anew.
   */
  abstract failed(subject: string): Promise<FailureBlock>;
}

/** A request under way, as whoever keeps its place has to know it. */
export interface UnderWay {
  readonly requestId: string;
  readonly accountId: string;
  /** The process that counted it alone, if one did. */
  readonly countedBy?: string;
}

/** What a process that counts does for others: the port, and keeping the places of requests under way. */
export interface Limits extends Limiter {
  /** Starts the leases of these anew. A place that has lapsed stays lost. */
  renew(live: readonly UnderWay[]): Promise<void>;
}

/** Source of the three: the abuse protection of the public interface. */
export const FAILURES_ALLOWED = 20;
export const FAILURE_WINDOW_MS = 30_000;
export const FAILURE_BLOCK_MS = 30_000;

import { Limiter, type LimitsState } from '@svc/contracts';

/** Where a limiter says what an operator should know. */
export interface LimiterLog {
  warn(fields: object, message: string): void;
}

/** A request under way, as whoever keeps its place has to know it. */
export interface UnderWay {
  readonly requestId: string;
  readonly accountId: string;
  /** The process that counted it alone, if one did. */
  readonly countedBy?: string;
}

/** A limiter in which a request's place among those under way is only leased, so that a dead process gives it back. */
export abstract class LeasingLimiter extends Limiter {
  /** Starts the leases of these anew. A place that has lapsed stays lost. */
  abstract renew(live: readonly UnderWay[]): Promise<void>;

  abstract state(): LimitsState;
}

/** Counts that several processes share. Its calls may reject, and may take any time. */
export abstract class SharedLimiter extends Limiter {
  abstract renew(live: readonly UnderWay[]): Promise<void>;

  /** Resolves when it can count. */
  abstract probe(): Promise<void>;

  abstract close(): Promise<void>;
}

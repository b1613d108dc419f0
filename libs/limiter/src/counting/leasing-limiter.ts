import {
  type Admission,
  type AdmitRequest,
  Limiter,
  type Limits,
  type LimitsState,
  type UnderWay,
} from '@svc/contracts';

/** Where a limiter says what an operator should know. */
export interface LimiterLog {
  warn(fields: object, message: string): void;
}

/** A limiter in which a request's place among those under way is only leased, so that a dead process gives it back. */
export abstract class LeasingLimiter extends Limiter implements Limits {
  abstract renew(live: readonly UnderWay[]): Promise<void>;

  abstract state(): LimitsState;
}

/** Counts that several processes share. Its calls may reject, and may take any time. */
export abstract class SharedLimiter extends Limiter implements Limits {
  /** A call that is no longer awaited when it gets its turn takes nothing, where that can be prevented. */
  abstract override admit(request: AdmitRequest, isAwaited?: () => boolean): Promise<Admission>;

  abstract renew(live: readonly UnderWay[]): Promise<void>;

  /** Resolves when it can count. */
  abstract probe(): Promise<void>;

  abstract close(): Promise<void>;
}

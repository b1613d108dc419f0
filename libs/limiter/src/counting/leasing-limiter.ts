import {
  type Admission,
  type AdmitRequest,
  type Amounts,
  Limiter,
  type Limits,
  type LimitsState,
  type UnderWay,
} from '@svc/contracts/ports';

/** Receives warnings for the operator. */
export interface LimiterLog {
  warn(fields: object, message: string): void;
}

/** A limiter that only leases the places of running requests, so that those of a dead process become free. */
export abstract class LeasingLimiter extends Limiter implements Limits {
  abstract renew(live: readonly UnderWay[]): Promise<void>;

  abstract state(): LimitsState;
}

/** A count shared by several processes. Its calls may reject and may take any time. */
export abstract class SharedLimiter extends Limiter implements Limits {
  /** If its caller has stopped waiting when the call runs, it should count nothing. */
  abstract override admit(request: AdmitRequest, isAwaited?: () => boolean): Promise<Admission>;

  abstract override settle(request: AdmitRequest, admission: Admission, used: Amounts): Promise<void>;

  abstract override release(request: AdmitRequest, admission: Admission): Promise<void>;

  abstract renew(live: readonly UnderWay[]): Promise<void>;

  /** Resolves when it can count. */
  abstract probe(): Promise<void>;

  abstract close(): Promise<void>;
}

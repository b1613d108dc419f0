import {
  type Admission,
  type AdmitRequest,
  type Amounts,
  Limiter,
  type Limits,
  type UnderWay,
} from '@svc/contracts/ports';

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

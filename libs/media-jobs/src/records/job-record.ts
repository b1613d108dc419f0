import type { MediaJobRecord, MediaJobState, MediaOrder } from '@svc/contracts/ports';

/** A job as stored. */
export interface JobRecord extends MediaJobRecord {
  /** Without the bytes of its files; removed when the job has ended. */
  readonly order: MediaOrder | undefined;
  readonly version: number;
  readonly tries: number;
  readonly backendJob: string | undefined;
  readonly mime: string | undefined;
  readonly expectedMs: number;
}

/** What a step changes. `undefined` empties a column. */
export interface JobChange {
  readonly state?: MediaJobState;
  readonly submits?: number;
  readonly tries?: number;
  readonly backend?: string | undefined;
  readonly backendJob?: string | undefined;
  readonly failureCode?: string;
  readonly failureMessage?: string;
  readonly refund?: 'pending' | 'done';
  readonly mime?: string;
  readonly bytes?: number;
  readonly sha256?: string;
  readonly idempotencyKey?: undefined;
  readonly startedAt?: Date;
  readonly endedAt?: Date;
  readonly deadlineAt?: Date;
  /** The next step is due then; the lease ends with the change. Without it, the lease is kept. */
  readonly nextStepAt?: Date;
  /** Removes what the request contained. */
  readonly isOver?: true;
}

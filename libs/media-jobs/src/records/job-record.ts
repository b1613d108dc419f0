import type { MediaKind, MediaOrder } from '@svc/contracts';

export type JobState =
  'held' | 'queued' | 'submitting' | 'running' | 'storing' | 'completed' | 'failed' | 'deleted';

/** A job as stored. */
export interface JobRecord {
  readonly id: string;
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly kind: MediaKind;
  readonly model: string;
  readonly state: JobState;
  /** Without its picture; removed when the job has ended. */
  readonly order: MediaOrder | undefined;
  readonly version: number;
  readonly submits: number;
  readonly tries: number;
  readonly backend: string | undefined;
  readonly backendJob: string | undefined;
  readonly failureCode: string | undefined;
  readonly failureMessage: string | undefined;
  readonly refund: 'pending' | 'done' | undefined;
  readonly mime: string | undefined;
  readonly bytes: number | undefined;
  readonly expectedMs: number;
  readonly createdAt: Date;
  readonly startedAt: Date | undefined;
  readonly endedAt: Date | undefined;
  readonly deadlineAt: Date;
  readonly expiresAt: Date;
}

/** What a step changes. `undefined` empties a column. */
export interface JobChange {
  readonly state?: JobState;
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

import { z } from 'zod';

/** Work that some process does later: its queue, its name there, its shape on the wire, and how it is tried. */
export interface JobDefinition<Payload = unknown> {
  /** Jobs of a queue are begun in their order, one at a time in each process that works on it. */
  readonly queue: string;
  readonly name: string;
  /** What JSON can hold. */
  readonly payload: z.ZodType<Payload>;
  /** Tries at most, the first one included. */
  readonly attempts: number;
  /** The wait before the second try; it doubles with each further one. */
  readonly backoffMs: number;
  /** A try that takes longer has failed. */
  readonly deadlineMs: number;
}

/** Defines a job. A change of its payload adds optional fields only; anything else is a job of another name. */
export function defineJob<Payload>(definition: JobDefinition<Payload>): JobDefinition<Payload> {
  return definition;
}

export interface JobOptions {
  /** While the queue keeps a job of this name and id, another one is not added. */
  readonly id?: string;
}

/** Hands work over to whichever process has a worker for it. */
export abstract class Jobs {
  /** Resolves once the job is stored; from then on it is done at least once, or has failed as often as it may. */
  abstract add<Payload>(job: JobDefinition<Payload>, payload: Payload, options?: JobOptions): Promise<void>;

  /**
   * Adds the job at each time of a cron pattern, in UTC, once for all processes together. A schedule that is there
   * already is left as it is, so that no time is missed.
   */
  abstract schedule<Payload>(job: JobDefinition<Payload>, payload: Payload, cron: string): Promise<void>;
}

/** Sets the DIEM of every account that has a stake, where that was not done for the current UTC day. */
export const setStakedDiem = defineJob({
  queue: 'ledger',
  name: 'set-staked-diem',
  payload: z.strictObject({}),
  attempts: 10,
  backoffMs: 2_000,
  deadlineMs: 3_600_000,
});

/** Proves what came into the books since the last audit. */
export const auditNewEntries = defineJob({
  queue: 'audit',
  name: 'audit-new-entries',
  payload: z.strictObject({}),
  attempts: 3,
  backoffMs: 10_000,
  deadlineMs: 600_000,
});

/** Proves the whole book. */
export const auditWholeBook = defineJob({
  queue: 'audit',
  name: 'audit-whole-book',
  payload: z.strictObject({}),
  attempts: 2,
  backoffMs: 600_000,
  deadlineMs: 14_400_000,
});

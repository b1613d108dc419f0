import { z } from 'zod';

/**
 * Work to be done later by some process: its queue, its name there, its shape on the wire, and its retries.
 */
export interface JobDefinition<Payload = unknown> {
  /** Jobs of a queue start in order, one at a time in each of its worker processes. */
  readonly queue: string;
  readonly name: string;
  /** Must be representable as JSON. */
  readonly payload: z.ZodType<Payload>;
  /** The most attempts, including the first. */
  readonly attempts: number;
  /** The wait before the second attempt; it doubles with each further one. */
  readonly backoffMs: number;
  /** An attempt that takes longer has failed. */
  readonly deadlineMs: number;
}

/** Defines a job. Its payload may only gain optional fields; any other change needs another name. */
export function defineJob<Payload>(definition: JobDefinition<Payload>): JobDefinition<Payload> {
  return definition;
}

export interface JobOptions {
  /** While the queue holds a job with this name and id, another one is not added. */
  readonly id?: string;
}

/** Hands work over to any process with a worker for it. */
export abstract class Jobs {
  /**
   * Resolves once the job is stored; from then on it runs until it succeeds or its attempts are used up. It
   * may succeed more than once.
   */
  abstract add<Payload>(job: JobDefinition<Payload>, payload: Payload, options?: JobOptions): Promise<void>;

  /**
   * Adds the job at each time of a cron pattern, in UTC, once for all processes together. An existing
   * schedule is left unchanged, so that no time is missed.
   */
  abstract schedule<Payload>(job: JobDefinition<Payload>, payload: Payload, cron: string): Promise<void>;
}

/** Sets the DIEM of every account with a stake, unless that was done for the current UTC day. */
export const setStakedDiem = defineJob({
  queue: 'ledger',
  name: 'set-staked-diem',
  payload: z.strictObject({}),
  attempts: 10,
  backoffMs: 2_000,
  deadlineMs: 3_600_000,
});

/** Audits what was added to the books since the last audit. */
export const auditNewEntries = defineJob({
  queue: 'audit',
  name: 'audit-new-entries',
  payload: z.strictObject({}),
  attempts: 3,
  backoffMs: 10_000,
  deadlineMs: 600_000,
});

/** Audits the whole book. */
export const auditWholeBook = defineJob({
  queue: 'audit',
  name: 'audit-whole-book',
  payload: z.strictObject({}),
  attempts: 2,
  backoffMs: 600_000,
  deadlineMs: 14_400_000,
});

/** Audits the payments that were made or changed since the last audit. */
export const auditNewPayments = defineJob({
  queue: 'payments-audit',
  name: 'audit-new-payments',
  payload: z.strictObject({}),
  attempts: 4,
  backoffMs: 60_000,
  deadlineMs: 3_600_000,
});

/** Audits all payments, which reads whole chains. */
export const auditAllPayments = defineJob({
  queue: 'payments-audit',
  name: 'audit-all-payments',
  payload: z.strictObject({}),
  attempts: 2,
  backoffMs: 600_000,
  deadlineMs: 14_400_000,
});

/** Creates the partitions of the books for the next months, unless they exist. */
export const createMonths = defineJob({
  queue: 'ledger',
  name: 'create-months',
  payload: z.strictObject({}),
  attempts: 10,
  backoffMs: 2_000,
  deadlineMs: 60_000,
});

/** Deletes what gateways keep only for a time. */
export const deleteExpired = defineJob({
  queue: 'upkeep',
  name: 'delete-expired',
  payload: z.strictObject({}),
  attempts: 3,
  backoffMs: 10_000,
  deadlineMs: 600_000,
});

/** Adds the events of keys that expire soon. */
export const notifyOfExpiry = defineJob({
  queue: 'upkeep',
  name: 'notify-of-expiry',
  payload: z.strictObject({}),
  attempts: 3,
  backoffMs: 10_000,
  deadlineMs: 60_000,
});

/** Adds the events of what has changed in the catalogue, and of backends. */
export const notifyOfChanges = defineJob({
  queue: 'upkeep',
  name: 'notify-of-changes',
  payload: z.strictObject({}),
  attempts: 1,
  backoffMs: 10_000,
  deadlineMs: 30_000,
});

/** Deletes the files of clients that have been kept long enough. */
export const deleteOldFiles = defineJob({
  queue: 'upkeep',
  name: 'delete-old-files',
  payload: z.strictObject({}),
  attempts: 3,
  backoffMs: 10_000,
  deadlineMs: 600_000,
});

/** Removes old events from a log in PostgreSQL. */
export const removeOldEvents = defineJob({
  queue: 'upkeep',
  name: 'remove-old-events',
  payload: z.strictObject({}),
  attempts: 3,
  backoffMs: 10_000,
  deadlineMs: 600_000,
});

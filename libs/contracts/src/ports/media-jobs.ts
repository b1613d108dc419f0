import { z } from 'zod';
import { ProblemOnWire } from '../problems/problem-wire.js';
import type { ProblemCode } from '../problems/problems.js';
import { Count, Name, Nothing, type PortWire, Time } from './port-wire.js';

/** The kinds of media that jobs make. */
export type MediaKind = 'video' | 'music';

const OrderFile = z.object({ type: z.string(), base64: z.string() });

/** What a backend shall make. */
export const MediaOrder = z.object({
  prompt: z.string(),
  seconds: z.int().positive(),
  width: z.int().positive().optional(),
  height: z.int().positive().optional(),
  /** The options of the model, as text. */
  fields: z.record(z.string(), z.string()),
  /** Further fields, as text. A backend gets those that it may. Orders of older processes have none. */
  others: z.record(z.string(), z.string()).default({}),
  /** The picture to begin with, in base64. */
  picture: OrderFile.optional(),
  /** Further files, each with the name of its part in the form of the backend. */
  inputs: z.array(OrderFile.extend({ part: z.string() })).optional(),
});
export type MediaOrder = z.infer<typeof MediaOrder>;

/** A job to be stored before it is charged. */
export interface NewMediaJob {
  readonly id: string;
  /** Of its hold and charge. */
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly kind: MediaKind;
  readonly model: string;
  readonly order: MediaOrder;
  /** Of the request, to tell a repeated one from another. */
  readonly bodySha256: string;
  readonly idempotencyKey?: string | undefined;
  /** Is notified of its end. */
  readonly callbackUrl?: string | undefined;
  /** How long it usually takes, and how long it may take. */
  readonly expectedMs: number;
  readonly deadlineMs: number;
}

/** Which job is meant: only its account finds it, and only under its model and kind. */
export interface MediaJobName {
  readonly id: string;
  readonly accountId: string;
  readonly kind: MediaKind;
  readonly model: string;
}

/** The media of a completed job. */
export interface StoredMedia {
  readonly mime: string;
  readonly bytes: number;
}

/** A job as its account sees it. */
export type MediaJob = {
  readonly id: string;
  readonly model: string;
  /** How long such jobs usually take, and how long this one has taken. */
  readonly expectedMs: number;
  readonly tookMs: number;
} & (
  | { readonly state: 'running' | 'deleted' }
  | { readonly state: 'completed'; readonly media: StoredMedia }
  | { readonly state: 'failed'; readonly failure: MediaJobFailure }
);

export interface MediaJobFailure {
  readonly code: ProblemCode;
  readonly message: string;
  /** Whether its cost has been returned. */
  readonly isRefunded: boolean;
}

export const MEDIA_JOB_STATES = [
  'held',
  'queued',
  'submitting',
  'running',
  'storing',
  'completed',
  'failed',
  'deleted',
] as const;
export type MediaJobState = (typeof MEDIA_JOB_STATES)[number];

/** The states of jobs that have not ended. */
export const UNFINISHED_JOB_STATES = [
  'held',
  'queued',
  'submitting',
  'running',
  'storing',
] as const satisfies readonly MediaJobState[];

/** A job as operators see it, without what it makes. */
export interface MediaJobRecord {
  readonly id: string;
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly kind: MediaKind;
  readonly model: string;
  readonly state: MediaJobState;
  readonly backend?: string | undefined;
  /** How often a backend may have accepted it. */
  readonly submits: number;
  readonly failureCode?: string | undefined;
  readonly failureMessage?: string | undefined;
  /** Whether the cost of a failed job must be returned, or was. */
  readonly refund?: 'pending' | 'done' | undefined;
  readonly bytes?: number | undefined;
  readonly createdAt: Date;
  readonly startedAt?: Date | undefined;
  readonly endedAt?: Date | undefined;
  readonly deadlineAt: Date;
  readonly expiresAt: Date;
}

/** Which jobs an operator wants to see. */
export interface MediaJobsWanted {
  readonly accountId?: string | undefined;
  readonly kind?: MediaKind | undefined;
  readonly model?: string | undefined;
  readonly states?: readonly MediaJobState[] | undefined;
  /** Of the request; `until` is exclusive. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  /** The last job of the previous page, which may have been deleted meanwhile. */
  readonly before?: Pick<MediaJobRecord, 'createdAt' | 'id'> | undefined;
  readonly limit: number;
}

/** The `failureCode` of a job that an operator has ended. Its account sees INFERENCE_FAILED. */
export const ENDED_BY_OPERATOR = 'ENDED_BY_OPERATOR';

/** A job that was accepted before. */
export type EarlierMediaJob = Pick<NewMediaJob, 'id' | 'model'>;

/** Jobs that make videos and music. Every call rejects with UNAVAILABLE if the jobs can't be reached. */
export abstract class MediaJobs {
  /**
   * The earlier job with this idempotency key. Rejects with IDEMPOTENCY_KEY_REUSED if its request was another
   * one; REQUEST_IN_PROGRESS if it is not charged yet.
   */
  abstract earlier(
    job: Pick<NewMediaJob, 'accountId' | 'kind' | 'bodySha256'> & { readonly idempotencyKey: string },
  ): Promise<EarlierMediaJob | undefined>;

  /**
   * The latest job of a key with the same request, of the last minutes: what a client that sends a request
   * again means, if it has no idempotency key.
   */
  abstract repeated(
    job: Pick<NewMediaJob, 'accountId' | 'keyId' | 'kind' | 'bodySha256'>,
  ): Promise<EarlierMediaJob | undefined>;

  /**
   * Stores a job. It begins once it is charged, and fails if that does not happen soon. May be repeated.
   * Rejects as `earlier`; TOO_MANY_JOBS, MEDIA_STORAGE_FULL.
   */
  abstract place(job: NewMediaJob): Promise<void>;

  /** The charge of a job is durable: it begins. Rejects if it has failed meanwhile. May be repeated. */
  abstract charged(id: string): Promise<void>;

  /** The job could not be charged: it fails, and its idempotency key may be used again. */
  abstract withdraw(id: string): Promise<void>;

  abstract find(name: MediaJobName): Promise<MediaJob | undefined>;

  /** The media of a completed job. Rejects with MEDIA_NOT_FOUND if it has been deleted meanwhile. */
  abstract open(id: string): Promise<AsyncIterable<Uint8Array>>;

  /**
   * A URL at which anyone may download what a job makes, once it has made it and until it is deleted, for at
   * most a day; undefined if clients do not reach the store.
   */
  abstract downloadUrl(id: string): Promise<string | undefined>;

  /** Deletes the media of a completed job; of any other one, nothing. */
  abstract remove(id: string): Promise<void>;

  /** Jobs, newest first. This and `end` are for operators. */
  abstract list(wanted: MediaJobsWanted): Promise<readonly MediaJobRecord[]>;

  /**
   * Ends a job under way: it fails, and its cost is returned. May be repeated. Rejects with JOB_NOT_FOUND;
   * JOB_FINISHED.
   */
  abstract end(id: string): Promise<MediaJobRecord>;
}

/** The most bytes of a block. A file has blocks of this size, and a last one of at most it. */
export const BLOCK_BYTES = 4_194_304;

/** The bytes of clients' files, in blocks, in the store of media. */
export abstract class FileBlocks {
  /**
   * Stores a block, durably once this resolves, in place of one with the same name. Rejects: UNAVAILABLE;
   * NOT_AVAILABLE in a deployment without a place for files.
   */
  abstract put(name: string, bytes: Uint8Array): Promise<void>;

  /** A block; undefined if the store has no block of this name. Rejects as `put`. */
  abstract get(name: string): Promise<Buffer | undefined>;

  /** Deletes a block, or none. Rejects as `put`. */
  abstract remove(name: string): Promise<void>;
}

const kind = z.enum(['video', 'music']);
const key = z.string().max(255);

const NamedOnWire = z.object({ accountId: Name, keyId: Name, kind, bodySha256: Name });

const NewOnWire = NamedOnWire.extend({
  id: z.uuid(),
  requestId: Name,
  model: Name,
  order: MediaOrder,
  idempotencyKey: key.optional(),
  callbackUrl: z.string().optional(),
  expectedMs: Count,
  deadlineMs: Count,
});

const EarlierOnWire = z.object({ id: Name, model: Name });

const SeenOnWire = z.object({ id: Name, model: Name, expectedMs: Count, tookMs: Count });

const JobOnWire = z.discriminatedUnion('state', [
  SeenOnWire.extend({ state: z.enum(['running', 'deleted']) }),
  SeenOnWire.extend({ state: z.literal('completed'), media: z.object({ mime: Name, bytes: Count }) }),
  SeenOnWire.extend({
    state: z.literal('failed'),
    failure: ProblemOnWire.pick({ code: true, message: true }).extend({ isRefunded: z.boolean() }),
  }),
]);

const RecordOnWire: z.ZodType<MediaJobRecord, unknown> = z.object({
  id: Name,
  requestId: Name,
  accountId: Name,
  keyId: Name,
  kind,
  model: Name,
  state: z.enum(MEDIA_JOB_STATES),
  backend: Name.optional(),
  submits: Count,
  failureCode: Name.optional(),
  failureMessage: z.string().optional(),
  refund: z.enum(['pending', 'done']).optional(),
  bytes: Count.optional(),
  createdAt: Time,
  startedAt: Time.optional(),
  endedAt: Time.optional(),
  deadlineAt: Time,
  expiresAt: Time,
});

const WantedOnWire: z.ZodType<MediaJobsWanted, unknown> = z.object({
  accountId: Name.optional(),
  kind: kind.optional(),
  model: Name.optional(),
  states: z.array(z.enum(MEDIA_JOB_STATES)).optional(),
  from: Time.optional(),
  until: Time.optional(),
  before: z.object({ createdAt: Time, id: Name }).optional(),
  limit: Count,
});

/** A result that may be missing. JSON has null for it. */
const maybe = <Value>(schema: z.ZodType<Value, Value>): z.ZodType<Value | undefined> =>
  z.codec(schema.nullable(), schema.optional(), {
    decode: (text) => text ?? undefined,
    encode: (value) => value ?? null,
  });

/** The methods of `MediaJobs` whose results are values. Media are streamed by a route of their own. */
export type MediaJobCalls = Omit<MediaJobs, 'open'>;

/** The wire format of the port `MediaJobs`. */
export const MEDIA_JOBS_WIRE: PortWire<MediaJobCalls> = {
  earlier: {
    arguments: z.tuple([NamedOnWire.omit({ keyId: true }).extend({ idempotencyKey: key })]),
    result: maybe(EarlierOnWire),
  },
  repeated: { arguments: z.tuple([NamedOnWire]), result: maybe(EarlierOnWire) },
  place: { arguments: z.tuple([NewOnWire]), result: Nothing },
  charged: { arguments: z.tuple([Name]), result: Nothing },
  withdraw: { arguments: z.tuple([Name]), result: Nothing },
  find: {
    arguments: z.tuple([z.object({ id: Name, accountId: Name, kind, model: Name })]),
    result: maybe(JobOnWire),
  },
  downloadUrl: { arguments: z.tuple([Name]), result: maybe(z.string().max(8_192)) },
  remove: { arguments: z.tuple([Name]), result: Nothing },
  list: { arguments: z.tuple([WantedOnWire]), result: z.array(RecordOnWire) },
  end: { arguments: z.tuple([Name]), result: RecordOnWire },
};

/** Why a job has no result. `busy` and `closed`: it never began. `refused`: its input is at fault. */
export type JobFailure = 'refused' | 'busy' | 'closed' | 'timeout' | 'memory' | 'crash';

const REASONS: Readonly<Record<Exclude<JobFailure, 'refused'>, string>> = {
  busy: 'too many files are being read just now',
  closed: 'the service is stopping',
  timeout: 'reading it took too long',
  memory: 'reading it took too much memory',
  crash: 'it could not be read',
};

/** A failed job of a thread pool. */
export class JobFailed extends Error {
  /** Plain words for the client, a clause without a full stop. */
  readonly reason: string;
  /** True if the input is not at fault. */
  readonly retryable: boolean;

  constructor(
    readonly kind: JobFailure,
    details: { readonly reason?: string; readonly cause?: unknown } = {},
  ) {
    const reason = details.reason ?? (kind === 'refused' ? DAMAGED : REASONS[kind]);
    super(reason, { cause: details.cause });
    this.name = 'JobFailed';
    this.reason = reason;
    this.retryable = kind === 'busy' || kind === 'closed';
  }
}

/** Thrown inside a thread: the input can't be read, for a reason that the client may see. */
export class Unreadable extends Error {
  constructor(readonly reason: string) {
    super(reason);
    this.name = 'Unreadable';
  }
}

export const DAMAGED = 'the file is damaged';
export const TOO_COMPLEX = 'the file is too large or too complex';

/** Errors of libraries mean nothing to a client; running out of stack or buffers does. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unreadable) return error.reason;
  return error instanceof RangeError ? TOO_COMPLEX : DAMAGED;
}

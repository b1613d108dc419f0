import type { Backend } from '@svc/contracts/catalog';
import type { WireCall } from '@svc/contracts/inference';
import type { Exchange } from '@svc/runtime';
import type { JobRequest } from '../dialects/dialect.js';
import type { LiveBackend } from './backend-pool.js';

/** A call of backends, of whatever kind. */
export interface RoutedCall extends Omit<WireCall, 'body' | 'files'> {
  /** What is sent, or makes it: what a backend says about it is cleaned of it. */
  readonly body: readonly Uint8Array[] | (() => readonly Uint8Array[]);
  /** Those of which one is called; default: those of the model. */
  readonly backends?: readonly Backend[];
}

/** How a response is read, and how long its parts may take. */
export interface CallMode<Part> {
  /** For all backends together, to the first event of a stream or the end of a complete response. */
  readonly deadlineMs: number;
  /** The same for each backend; default: as long as the deadline of all leaves. */
  readonly attemptMs?: number;
  readonly pauseMs: number;
  readonly isStream: boolean;
  /** Default: that of JSON. */
  readonly contentType?: string;
  /** Whether this backend can be called; default: yes. */
  readonly serves?: (live: LiveBackend) => boolean;
  /** Which of the backends to call, in this order; default: all, as they are. */
  readonly order?: (able: readonly LiveBackend[]) => Promise<readonly LiveBackend[]>;
  /** The body for this backend. */
  readonly body?: (live: LiveBackend) => readonly Uint8Array[];
  /** For calls about jobs and enclaves: the whole request. */
  readonly job?: (live: LiveBackend) => JobRequest;
  /** The caller reads the status. Default: all but 200 are failures. */
  readonly anyStatus?: true;
  /** Throws errors that another backend might not produce. */
  readonly take: (exchange: Exchange, live: LiveBackend) => Promise<Part>;
}

/** How a stream begins, and at which backends. */
export interface StreamStart extends Pick<CallMode<never>, 'serves'> {
  /** Reads the beginning of a response that is not an error, and returns all bytes that arrived. */
  readonly first: CallMode<readonly Buffer[]>['take'];
}

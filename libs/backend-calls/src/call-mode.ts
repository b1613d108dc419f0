import type { Backend } from '@svc/contracts/catalog';
import type { WireCall } from '@svc/contracts/inference';
import type { Exchange } from '@svc/runtime';
import type { CallHead, PlannedRequest, UnauthorizedCall } from './planned-request.js';
import type { LiveBackend } from './backend-pool.js';

/** A call of backends, of whatever kind. */
export interface RoutedCall extends Omit<WireCall, 'body' | 'files'> {
  /** What is sent, or makes it: what a backend says about it is cleaned of it. */
  readonly body: readonly Uint8Array[] | (() => readonly Uint8Array[]);
  /** Those of which one is called. */
  readonly backends: readonly Backend[];
  /** Whether prompts of different accounts may be in the same cache. */
  readonly sharesPrompts?: boolean;
}

/** Headers by which a call shows who makes it. */
interface CallAuthorization {
  readonly headersOf: (call: UnauthorizedCall) => Promise<Record<string, string>>;
  /** The backend has refused the headers. */
  readonly refused: () => void;
}

/** How a call is made at one backend. */
export interface CallPlan<Part> {
  readonly headers: (head: CallHead) => Record<string, string>;
  /** The headers by which the call shows who makes it, if they take more than a key. */
  readonly authorization?: CallAuthorization | undefined;
  /** Throws if the call cannot be made there. */
  readonly request: () => PlannedRequest;
  /** Reads the response. Throws errors that another backend might not produce. */
  readonly take: (exchange: Exchange) => Part | Promise<Part>;
  /** Whether the backend works on after its response, until `take` has ended. */
  readonly isQueued?: boolean | undefined;
}

/** A backend that can be called. */
export interface Candidate {
  readonly live: LiveBackend;
}

/** At which backends a call is made, and how long its parts may take. */
export interface CallMode<Part> {
  /** For all backends together, to the first event of a stream or the end of a complete response. */
  readonly deadlineMs: number;
  /** The same for each backend; default: as long as the deadline of all leaves. */
  readonly attemptMs?: number;
  readonly pauseMs: number;
  readonly isStream: boolean;
  /** The caller reads the status. Default: all but 200 are failures. */
  readonly anyStatus?: true;
  /** `undefined` for a backend that cannot do it. */
  readonly at: (live: LiveBackend) => CallPlan<Part> | undefined;
  /** Which of those that can do it to call, in this order; default: all, as they are. */
  readonly order?: <Able extends Candidate>(able: readonly Able[]) => Promise<readonly Able[]>;
}

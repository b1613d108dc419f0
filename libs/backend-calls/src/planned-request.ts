import type { EncryptionKeys } from '@svc/contracts/messages';
import { uuidOf } from '@svc/runtime';

/** A request to a backend. */
export interface PlannedRequest {
  /** Default: POST. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Relative to the URL of the backend. */
  readonly path: string;
  /** In place of those of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
}

/** A call of a backend before it shows who makes it. */
export interface UnauthorizedCall {
  readonly method: string;
  readonly origin: string;
  /** From the root of the host. */
  readonly path: string;
  readonly body: readonly Uint8Array[];
  /** The operator's secret for the backend. */
  readonly key: string | undefined;
}

/** The data of a call that goes into a backend's headers. */
export interface CallHead {
  readonly requestId: string;
  /** The operator's key for the backend. */
  readonly key: string | undefined;
  /** The keys of an encrypted chat, which only dialects with an enclave get. */
  readonly encryption?: EncryptionKeys | undefined;
}

/** Whether a secret is not a key itself, but a JSON object that tokens or signatures are made with. */
export const hasParts = (key: string | undefined): boolean => key?.startsWith('{') === true;

/** The headers of calls of most backends. */
export function jsonHeaders({ requestId, key }: CallHead): Record<string, string> {
  return {
    'content-type': 'application/json',
    // llama-cpp-python rejects any other id.
    'x-request-id': uuidOf(requestId),
    ...(key !== undefined && !hasParts(key) && { authorization: `Bearer ${key}` }),
  };
}

import { randomUUID } from 'node:crypto';
import type { AdmitRequest, Limits } from '@svc/contracts';

/** A limiter under test. */
export interface LimiterSubject {
  readonly limiter: Limits;
  /** Advances the limiter's clock. */
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export const AMPLE = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000 };

/** A request of one token with ample limits, and its own account and subject. */
export function admitRequest(given: Partial<AdmitRequest> = {}): AdmitRequest {
  return {
    requestId: randomUUID(),
    accountId: randomUUID(),
    keyId: 'key',
    model: 'model',
    subject: `key:${randomUUID()}`,
    limits: { user: AMPLE },
    tokens: 1,
    ...given,
  };
}

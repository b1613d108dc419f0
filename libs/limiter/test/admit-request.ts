import { randomUUID } from 'node:crypto';
import {
  type Admission,
  type AdmitRequest,
  type Limit,
  type LimitScope,
  type Limits,
  MINUTE_MS,
  type MinuteLimits,
  perMinute,
} from '@svc/contracts/ports';

/** A limiter under test. */
export interface LimiterSubject {
  readonly limiter: Limits;
  /** Advances the limiter's clock. */
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export const AMPLE = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000 };

type ScopedLimits = { readonly [Scope in LimitScope]?: MinuteLimits };

export interface GivenRequest extends Partial<Omit<AdmitRequest, 'limits' | 'resource' | 'amounts'>> {
  /** Default: an ample limit of the account. */
  readonly limits?: ScopedLimits;
  readonly windowMs?: number;
  readonly model?: string;
  /** Default: 1. */
  readonly tokens?: number;
}

/** A request of one token with ample limits, and its own account and subject. */
export function admitRequest(given: GivenRequest = {}): AdmitRequest {
  const { limits = { user: AMPLE }, windowMs, model = 'model', tokens = 1, ...rest } = given;
  return {
    requestId: randomUUID(),
    accountId: randomUUID(),
    keyId: 'key',
    resource: { kind: 'model', name: model },
    subject: `key:${randomUUID()}`,
    limits: limitsOf(limits, windowMs),
    amounts: { requests: 1, tokens },
    ...rest,
  };
}

/** Limits by scope as a list, with windows of this length. */
export function limitsOf(scoped: ScopedLimits, windowMs = MINUTE_MS): Limit[] {
  const scopes = ['user', 'api_key', 'end_user', 'global'] as const;
  return scopes
    .flatMap((scope) => perMinute(scope, scoped[scope] ?? {}))
    .map((limit) => ({ ...limit, windowMs }));
}

/** The unit that a request was refused for, or `concurrent` or `failures`. */
export function refusedFor({ refusedBy }: Admission): string | undefined {
  return refusedBy?.of === 'limit' ? refusedBy.limit.unit : refusedBy?.of;
}

/** What a limiter answers to concurrent requests. */
export const admitAll = (
  limiter: LimiterSubject['limiter'],
  requests: readonly AdmitRequest[],
): Promise<Admission[]> => Promise.all(requests.map(async (request) => limiter.admit(request)));

import { Injectable } from '@nestjs/common';
import { type Admission, type AdmitRequest, type Caller, Limiter, Problem } from '@svc/contracts';

/** Source: the public interface. */
const KEYS_PER_MINUTE = 20;

/** Keeps an account from making keys by the hundred. */
@Injectable()
export class KeyCreationLimit {
  constructor(private readonly limiter: Limiter) {}

  /** Counts a key that is about to be made. Refuses: RATE_LIMIT_EXCEEDED. */
  async take({ accountId, keyId }: Caller, requestId: string): Promise<void> {
    const request: AdmitRequest = {
      requestId,
      accountId,
      keyId,
      model: 'endpoint:api/v1/api_keys',
      limits: { user: { requestsPerMinute: KEYS_PER_MINUTE, tokensPerMinute: Number.MAX_SAFE_INTEGER } },
      tokens: 0,
    };
    const admission = await this.limiter.admit(request);
    if (!admission.admitted) throw tooMany(admission);
    await this.limiter.settle(request, admission, 0);
  }
}

function tooMany({ resetAtMs }: Admission): Problem {
  return new Problem('RATE_LIMIT_EXCEEDED', {
    retryAfterSeconds: Math.max(1, Math.ceil((resetAtMs - Date.now()) / 1_000)),
  });
}

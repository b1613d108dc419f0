import { Injectable } from '@nestjs/common';
import { type AdmitRequest, type Caller, Limiter, perMinute } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { keySubject } from '@svc/identity/failures';
import { LimitGate } from '@svc/paid/limits';

/** Source: the public interface. */
const KEYS_PER_MINUTE = 20;

/** Limits how quickly an account can create keys. */
@Injectable()
export class KeyCreationLimit {
  constructor(
    private readonly limits: LimitGate,
    private readonly limiter: Limiter,
  ) {}

  /** Counts the creation of a key. Refuses: RATE_LIMIT_EXCEEDED. */
  async take(caller: Caller, requestId: string): Promise<void> {
    const { accountId, keyId } = caller;
    const request: AdmitRequest = {
      requestId,
      accountId,
      keyId,
      resource: { kind: 'route', name: routes.createApiKey.path },
      subject: keySubject(caller),
      limits: perMinute('user', { requestsPerMinute: KEYS_PER_MINUTE }),
      amounts: { requests: 1 },
    };
    const admission = await this.limiter.admit(request);
    if (!admission.admitted) throw this.limits.refusal(caller, request, admission);
    await this.limiter.settle(request, admission, {});
  }
}

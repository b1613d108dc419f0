import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Admission, type AdmitRequest, Limiter } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { networkOf } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { subjectOf } from '@svc/identity/failures';

/** The most requests in each window. */
export interface NetworkBound {
  readonly max: number;
  readonly windowMs: number;
}

/** Limits requests by the network of their client, for routes that need no key. */
@Injectable()
export class NetworkLimit {
  constructor(private readonly limiter: Limiter) {}

  /** Counts a request for a resource. Refuses: RATE_LIMIT_EXCEEDED. */
  async take(sent: FastifyRequest, resource: string, bound: NetworkBound): Promise<void> {
    const { request, admission } = await this.admit(sent, resource, bound);
    await this.limiter.settle(request, admission, {});
  }

  /** Counts an attempt only if it fails, and none beyond the bound is made. Refuses: RATE_LIMIT_EXCEEDED. */
  async attempt<Result>(
    sent: FastifyRequest,
    { resource, bound }: { readonly resource: string; readonly bound: NetworkBound },
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { request, admission } = await this.admit(sent, resource, bound);
    try {
      const result = await work();
      await this.limiter.release(request, admission);
      return result;
    } catch (error) {
      const isFailure = Problem.from(error).status < 500;
      await (isFailure
        ? this.limiter.settle(request, admission, {})
        : this.limiter.release(request, admission));
      throw error;
    }
  }

  private async admit(
    sent: FastifyRequest,
    resource: string,
    { max, windowMs }: NetworkBound,
  ): Promise<{ request: AdmitRequest; admission: Admission }> {
    // A limiter counts for accounts; no account has such an id.
    const name = hash('sha256', networkOf(sent.ip));
    const request: AdmitRequest = {
      requestId: sent.id,
      accountId: name,
      keyId: name,
      resource: { kind: 'route', name: resource },
      subject: subjectOf(sent),
      limits: [{ scope: 'user', unit: 'requests', windowMs, max }],
      amounts: { requests: 1 },
    };
    const admission = await this.limiter.admit(request);
    if (admission.admitted) return { request, admission };
    const { refusedBy, blockedForMs = 0 } = admission;
    const waitMs = refusedBy?.of === 'limit' ? refusedBy.resetAtMs - Date.now() : blockedForMs;
    throw new Problem('RATE_LIMIT_EXCEEDED', {
      message: 'Rate limit exceeded.',
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
    });
  }
}

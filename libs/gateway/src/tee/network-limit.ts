import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type AdmitRequest, Limiter, MINUTE_MS } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { networkOf } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { subjectOf } from '@svc/paid/auth';

/** Source: the public interface. */
const REQUESTS_PER_MINUTE = 10;

/** Limits requests by the network of their client, for routes that need no key and keep backends busy. */
@Injectable()
export class NetworkLimit {
  constructor(private readonly limiter: Limiter) {}

  /** Counts a request for a resource. Refuses: RATE_LIMIT_EXCEEDED. */
  async take(sent: FastifyRequest, resource: string): Promise<void> {
    // A limiter counts for accounts; no account has such an id.
    const name = hash('sha256', networkOf(sent.ip));
    const request: AdmitRequest = {
      requestId: sent.id,
      accountId: name,
      keyId: name,
      resource: { kind: 'route', name: resource },
      subject: subjectOf(sent),
      limits: [{ scope: 'user', unit: 'requests', windowMs: MINUTE_MS, max: REQUESTS_PER_MINUTE }],
      amounts: { requests: 1 },
    };
    const admission = await this.limiter.admit(request);
    if (admission.admitted) return this.limiter.settle(request, admission, {});
    const { refusedBy, blockedForMs = 0 } = admission;
    const waitMs = refusedBy?.of === 'limit' ? refusedBy.resetAtMs - Date.now() : blockedForMs;
    throw new Problem('RATE_LIMIT_EXCEEDED', {
      message: 'Rate limit exceeded.',
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
    });
  }
}

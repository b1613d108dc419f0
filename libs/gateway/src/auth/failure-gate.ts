import { Injectable } from '@nestjs/common';
import { routeOf } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { GatewaySettings } from '../gateway.config.js';
import { networkOf } from '../limits/client-network.js';
import { FailureBlocks, blockedProblem, keySubject } from '../limits/failure-blocks.js';
import { LimitReports } from '../limits/limit-reports.js';

/** Who a failure counts for: the key, or the client's address where there is no valid one. */
export function subjectOf({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): string {
  return caller ? keySubject(caller.keyId) : `ip:${networkOf(ip)}`;
}

/** Turns away who has failed too often. */
@Injectable()
export class FailureGate {
  constructor(
    private readonly blocks: FailureBlocks,
    private readonly reports: LimitReports,
    private readonly settings: GatewaySettings,
  ) {}

  /**
   * To be asked once it is known who asks, or that nobody knows; without a promise where nobody else has to be asked.
   * Refuses: RATE_LIMIT_EXCEEDED.
   */
  refuseBlocked(request: FastifyRequest): Promise<void> | undefined {
    if (this.settings.config.GATEWAY_FAILURE_BLOCK === 'off') return undefined;
    const subject = subjectOf(request);
    if (!isAdmitted(request))
      return this.blocks.blockedForMs(subject).then((forMs) => this.refuseFor(forMs, request));
    this.refuseFor(this.blocks.heardForMs(subject), request);
    return undefined;
  }

  private refuseFor(forMs: number, request: FastifyRequest): void {
    if (forMs === 0) return;
    const { id: requestId, caller } = request;
    const model = `endpoint:${(routeOf(request)?.path ?? '').slice(1)}`;
    if (caller) this.reports.tell({ requestId, caller, model, type: 'FAILED_REQUESTS' });
    throw blockedProblem(forMs);
  }
}

/** Of a request that the limits are asked to admit they tell then whether its caller is blocked. */
function isAdmitted(request: FastifyRequest): boolean {
  return request.caller !== undefined && routeOf(request)?.admitted === true;
}

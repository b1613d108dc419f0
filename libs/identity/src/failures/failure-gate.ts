import { Injectable } from '@nestjs/common';
import { networkOf, routeOf, type Incoming } from '@svc/runtime';
import { limits } from '@svc/telemetry';
import { IdentitySettings } from '../identity.config.js';
import { FailureBlocks, blockedProblem, keySubject } from './failure-blocks.js';
import { LimitReports } from './limit-reports.js';

/** The subject that a failure counts for: the key or wallet, or else the client's address. */
export function subjectOf({ caller, ip }: Pick<Incoming, 'caller' | 'ip'>): string {
  return caller ? keySubject(caller) : `ip:${networkOf(ip)}`;
}

/** Refuses callers and addresses that have failed too often. */
@Injectable()
export class FailureGate {
  constructor(
    private readonly blocks: FailureBlocks,
    private readonly reports: LimitReports,
    private readonly settings: IdentitySettings,
  ) {}

  /** Whether this process knows that the request's subject is blocked. Never calls the limiter. */
  isBlocked(request: Incoming): boolean {
    return this.isOn && this.blocks.cachedForMs(subjectOf(request)) > 0;
  }

  /**
   * Call this once the caller has been identified or has failed to be. Returns without a promise when the
   * limiter need not be called. Refuses: RATE_LIMIT_EXCEEDED.
   */
  refuseBlocked(request: Incoming): Promise<void> | undefined {
    if (!this.isOn) return undefined;
    const subject = subjectOf(request);
    if (!isAdmitted(request))
      return this.blocks.blockedForMs(subject).then((forMs) => this.refuseFor(forMs, request));
    this.refuseFor(this.blocks.cachedForMs(subject), request);
    return undefined;
  }

  private get isOn(): boolean {
    return this.settings.config.GATEWAY_FAILURE_BLOCK === 'on';
  }

  private refuseFor(forMs: number, request: Incoming): void {
    if (forMs === 0) return;
    limits.refusals.add(1, 'FAILED_REQUESTS');
    const { id: requestId, caller } = request;
    const resource = { kind: 'route', name: routeOf(request)?.path ?? '/' } as const;
    if (caller) this.reports.add({ requestId, caller, resource, type: 'FAILED_REQUESTS' });
    throw blockedProblem(forMs);
  }
}

/**
 * Routes with `admitted` call the limiter anyway, and its admission reports whether the caller is blocked.
 */
function isAdmitted(request: Incoming): boolean {
  return request.caller !== undefined && routeOf(request)?.admitted !== undefined;
}

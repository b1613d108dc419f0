import { isIPv6 } from 'node:net';
import { Injectable } from '@nestjs/common';
import { FAILURES_ALLOWED, FAILURE_BLOCK_MS, Limiter, Problem } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import { GatewaySettings } from '../gateway.config.js';
import { secondsUntil } from '../limits/limit-gate.js';
import { LimitReports } from '../limits/limit-reports.js';

const MESSAGE = `Too many failed attempts (> ${FAILURES_ALLOWED}) resulting in a non-success status code. Please wait ${
  FAILURE_BLOCK_MS / 1_000
}s and try again.`;

/** Who a failure counts for: the key, or the client's address where there is no valid one. */
export function subjectOf({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): string {
  return caller ? `key:${caller.keyId}` : `ip:${network(ip)}`;
}

/** Of an IPv6 address only the network counts: a client has 2^64 addresses in it to choose from. */
function network(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const [head = '', tail = ''] = ip.split('%', 1).join('').split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  if (after.at(-1)?.includes('.')) return ip;
  const zeros = ip.includes('::') ? Math.max(0, 8 - groups.length - after.length) : 0;
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...after];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** Turns away who has failed too often. */
@Injectable()
export class FailureGate {
  constructor(
    private readonly limiter: Limiter,
    private readonly reports: LimitReports,
    private readonly settings: GatewaySettings,
  ) {}

  /** To be asked once it is known who asks, or that nobody knows. Refuses: RATE_LIMIT_EXCEEDED. */
  async refuseBlocked(request: FastifyRequest): Promise<void> {
    if (this.settings.config.GATEWAY_FAILURE_BLOCK === 'off') return;
    const { untilMs } = await this.limiter.blocked(subjectOf(request));
    if (untilMs === undefined) return;
    const { id: requestId, caller, routeOptions } = request;
    const model = `endpoint:${(routeOptions.url ?? '').slice(1)}`;
    if (caller) this.reports.tell({ requestId, caller, model, type: 'FAILED_REQUESTS' });
    throw new Problem('RATE_LIMIT_EXCEEDED', { message: MESSAGE, retryAfterSeconds: secondsUntil(untilMs) });
  }
}

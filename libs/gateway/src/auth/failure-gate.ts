import { Injectable } from '@nestjs/common';
import { routes } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { GatewaySettings } from '../gateway.config.js';
import { FailureBlocks, blockedProblem, keySubject } from '../limits/failure-blocks.js';
import { LimitReports } from '../limits/limit-reports.js';

/** A client has all addresses of such a network to choose from. */
const IPV6_NETWORK_BITS = 64;

/** What is no address is what a proxy made up. */
const MAX_NAME = 64;

/** Who a failure counts for: the key, or the client's address where there is no valid one. */
export function subjectOf({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): string {
  return caller ? keySubject(caller.keyId) : `ip:${network(ip)}`;
}

/** Of an IPv6 address only the network counts; one that stands for an IPv4 address is that. */
function network(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip.slice(0, MAX_NAME);
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  const cidr = `${address.toNormalizedString()}/${IPV6_NETWORK_BITS}`;
  return `${ipaddr.IPv6.networkAddressFromCIDR(cidr).toString()}/${IPV6_NETWORK_BITS}`;
}

/** Turns away who has failed too often. */
@Injectable()
export class FailureGate {
  constructor(
    private readonly blocks: FailureBlocks,
    private readonly reports: LimitReports,
    private readonly settings: GatewaySettings,
  ) {}

  /** To be asked once it is known who asks, or that nobody knows. Refuses: RATE_LIMIT_EXCEEDED. */
  async refuseBlocked(request: FastifyRequest): Promise<void> {
    if (this.settings.config.GATEWAY_FAILURE_BLOCK === 'off') return;
    const subject = subjectOf(request);
    const forMs = isAdmitted(request)
      ? this.blocks.heardForMs(subject)
      : await this.blocks.blockedForMs(subject);
    if (forMs === 0) return;
    const { id: requestId, caller, routeOptions } = request;
    const model = `endpoint:${(routeOptions.url ?? '').slice(1)}`;
    if (caller) this.reports.tell({ requestId, caller, model, type: 'FAILED_REQUESTS' });
    throw blockedProblem(forMs);
  }
}

/** Of a request that the limits are asked to admit they tell then whether its caller is blocked. */
function isAdmitted({ caller, routeOptions }: FastifyRequest): boolean {
  return caller !== undefined && routeOptions.url === routes.chatCompletions.path;
}

import { Injectable } from '@nestjs/common';
import type { Caller } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { GatedAccess, Incoming, Outgoing } from '@svc/runtime';
import { demandOwnPage } from '../console/own-pages.js';
import { IdentitySettings } from '../identity.config.js';
import { PublicOrigin } from '../wallets/public-origin.js';
import { Callers } from './callers.js';

/** Authenticates requests of the console by the session in their cookie, and by nothing else. */
@Injectable()
export class ConsoleAccess {
  constructor(
    private readonly callers: Callers,
    private readonly origin: PublicOrigin,
    private readonly settings: IdentitySettings,
  ) {}

  /** Refuses: NOT_FOUND, UNAUTHORIZED, AUTHENTICATION_FAILED and whatever a caller may be refused with. */
  async enter(access: GatedAccess, request: Incoming, reply: Outgoing): Promise<true> {
    if (this.settings.config.SVC_CONSOLE === 'off') throw new Problem('NOT_FOUND');
    reply.raw.setHeader('cache-control', 'no-store');
    demandOwnPage(request, this.origin.ofPages(request));
    const session = await this.callers.inSession(request);
    if (access === 'console') return true;
    if (!session) throw new Problem('AUTHENTICATION_FAILED');
    if (access === 'admin') demandAdmin(session.caller);
    return true;
  }
}

/** Refuses: AUTHENTICATION_FAILED. */
export function demandAdmin({ keyType }: Caller): void {
  if (keyType !== 'ADMIN') throw new Problem('AUTHENTICATION_FAILED', { message: 'Admin API key required' });
}

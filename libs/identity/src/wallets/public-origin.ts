import { Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { IdentitySettings } from '../identity.config.js';
import type { Incoming } from '@svc/runtime';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The origin that wallets sign in to. Without the setting, only loopback host names are accepted: clients
 * choose the host name of a request, so another service could otherwise replay here what a wallet has signed
 * for it.
 */
@Injectable()
export class PublicOrigin {
  constructor(private readonly settings: IdentitySettings) {}

  /** Undefined if wallets cannot sign in. */
  find({ protocol, host }: Incoming): URL | undefined {
    const { X402_PUBLIC_ORIGIN: origin } = this.settings.config;
    if (origin !== undefined) return new URL(origin);
    const address = `${protocol}://${host}`;
    const url = URL.canParse(address) ? new URL(address) : undefined;
    return url && LOOPBACK.test(url.hostname) ? url : undefined;
  }

  /** The origin of the console's pages: the public one, or else the one that the request names. */
  ofPages({ protocol, host }: Incoming): string {
    const { X402_PUBLIC_ORIGIN: origin } = this.settings.config;
    return origin === undefined ? `${protocol}://${host}` : new URL(origin).origin;
  }

  /** Refuses: X402_NOT_CONFIGURED. */
  get(request: Incoming): URL {
    const origin = this.find(request);
    if (origin) return origin;
    throw new Problem('X402_NOT_CONFIGURED', {
      message:
        'Wallets cannot sign in here: the operator must set X402_PUBLIC_ORIGIN to the public origin of this service.',
    });
  }
}

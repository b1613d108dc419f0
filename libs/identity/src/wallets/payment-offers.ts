import { Injectable } from '@nestjs/common';
import type { PaymentOption } from '@svc/api/wallets';
import { type PaymentRail, Payments } from '@svc/contracts/ports';
import { within } from '@svc/runtime';

/** How long payment rails are cached, and how long a refusal waits for them. */
const KNOWN_MS = 60_000;
const WAIT_MS = 500;

/** How long before its arrival a payment may be signed. Source: the public interface. */
const SIGNED_SECONDS = 300;

const UNITS_PER_USD = 1_000_000;

/** The payment options offered to clients. Cached, so that requests without a payment cost nothing. */
@Injectable()
export class PaymentOffers {
  private known: readonly PaymentRail[] = [];
  private knownUntilMs = 0;

  constructor(private readonly payments: Payments) {}

  /** The options to pay this number of dollars. Refuses: X402_NOT_CONFIGURED, UNAVAILABLE. */
  async of(usd: number): Promise<PaymentOption[]> {
    if (performance.now() > this.knownUntilMs) {
      this.known = await within(WAIT_MS, this.payments.rails());
      this.knownUntilMs = performance.now() + KNOWN_MS;
    }
    return this.options(usd);
  }

  /** The same, or the last known options after a failure, so that the original refusal remains. */
  async ifAny(usd: number): Promise<PaymentOption[]> {
    try {
      return await this.of(usd);
    } catch {
      return this.options(usd);
    }
  }

  /** The names of the rails that were last offered. */
  get rails(): readonly string[] {
    return this.known.map(({ name }) => name);
  }

  private options(usd: number): PaymentOption[] {
    return this.known.map(({ network, asset, payTo, extra }) => ({
      scheme: 'exact',
      network,
      amount: String(Math.round(usd * UNITS_PER_USD)),
      asset,
      payTo,
      maxTimeoutSeconds: SIGNED_SECONDS,
      extra: { ...extra },
    }));
  }
}

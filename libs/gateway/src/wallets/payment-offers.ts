import { Injectable } from '@nestjs/common';
import { type PaymentOption, type PaymentRail, Payments } from '@svc/contracts';
import { within } from '@svc/runtime';

/** Rails are looked up anew after this time, and a refusal waits for them so long. */
const KNOWN_MS = 60_000;
const WAIT_MS = 500;

/** How long a payment may be signed before it arrives. Source: the public interface. */
const SIGNED_SECONDS = 300;

const UNITS_PER_USD = 1_000_000;

/** What clients are offered to pay with. Remembered, so that who asks for nothing costs nothing. */
@Injectable()
export class PaymentOffers {
  private known: readonly PaymentRail[] = [];
  private knownUntilMs = 0;

  constructor(private readonly payments: Payments) {}

  /** The ways to pay so many dollars. Refuses: X402_NOT_CONFIGURED, UNAVAILABLE. */
  async of(usd: number): Promise<PaymentOption[]> {
    if (performance.now() > this.knownUntilMs) {
      this.known = await within(WAIT_MS, this.payments.rails());
      this.knownUntilMs = performance.now() + KNOWN_MS;
    }
    return this.options(usd);
  }

  /** The same, and nothing where they can't be told: what is refused is not refused otherwise for that. */
  async ifAny(usd: number): Promise<PaymentOption[]> {
    try {
      return await this.of(usd);
    } catch {
      return this.options(usd);
    }
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

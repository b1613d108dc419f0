import { durationMs } from '@svc/runtime';
import { z } from 'zod';
import { type RailKind, settingsOfRails } from './rails/rail-kind.js';
import { RAILS } from './rails/rails.js';

/** Settings of payments on any rail. */
const common = {
  X402_FACILITATOR_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The URL of an x402 facilitator that submits payments instead of a signer of this deployment: on Solana only if no signer key is set',
    ),
  X402_LEASE_MS: durationMs
    .default(60_000)
    .describe('How long a process may work on a payment before another process may take it over'),
  X402_SETTLE_WAIT_MS: durationMs
    .default(25_000)
    .describe('How long a top-up waits for its payment to be settled before it returns 409'),
};

/** The settings of payments on these rails; each rail reads its own. */
export const paymentsConfigOf = (rails: readonly RailKind[]): typeof common => ({
  ...settingsOfRails(rails),
  ...common,
});

/** Settings for settling payments. All are optional: without them, payments are disabled. */
export const paymentsConfig = paymentsConfigOf(RAILS);

export type PaymentsConfig = Readonly<z.infer<z.ZodObject<typeof common>>>;

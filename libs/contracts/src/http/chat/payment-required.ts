import { z } from 'zod';

/** One way to pay, as x402 version 2 has it. */
const PaymentOption = z.looseObject({
  scheme: z.string(),
  network: z.string().describe('CAIP-2, such as `eip155:8453`.'),
  asset: z.string(),
  amount: z.string().describe('In the smallest unit of the asset.'),
  payTo: z.string(),
  maxTimeoutSeconds: z.int(),
});

/** The body of a 402 for a request without any credentials: where and how to pay. */
export const PaymentRequired = z.looseObject({
  x402Version: z.literal(2),
  error: z.string().optional(),
  resource: z.object({ url: z.string(), description: z.string(), mimeType: z.string() }),
  accepts: z.array(PaymentOption).describe('Empty where this deployment sells no credit to wallets.'),
  extensions: z.record(z.string(), z.unknown()),
  authOptions: z.looseObject({ apiKey: z.looseObject({ header: z.string() }) }),
});

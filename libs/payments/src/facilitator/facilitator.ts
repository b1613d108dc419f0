import { BASE_NETWORK, BASE_USDC, USDC_EXTRA } from '@svc/contracts';
import { z } from 'zod';
import { timedCall } from '../chains/node-calls.js';
import { postJson } from '../chains/post-json.js';
import type { Authorization } from '../header/payment-header.js';

const SETTLE_MS = 30_000;

const ANSWER_BYTES = 65_536;

const Settled = z.object({
  success: z.boolean(),
  transaction: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/i)
    .optional()
    .catch(undefined),
});

/** Submits payments for us, by the HTTP interface of x402. What it says of their fate is not believed: the chain is asked. */
export class Facilitator {
  constructor(private readonly url: string) {}

  /** Has a payment submitted. Gives the transaction that it names, if any; silence and refusal are the same. */
  async settle(authorization: Authorization): Promise<string | undefined> {
    try {
      return await timedCall('base', 'facilitator', () => this.ask(authorization));
    } catch {
      return undefined;
    }
  }

  private async ask(authorization: Authorization): Promise<string | undefined> {
    const url = `${this.url.replace(/\/$/, '')}/settle`;
    const bounds = { timeoutMs: SETTLE_MS, maxBytes: ANSWER_BYTES };
    return Settled.parse(await postJson(url, settleCall(authorization), bounds)).transaction;
  }
}

function settleCall({ signature, ...authorization }: Authorization): object {
  const numbers = {
    value: String(authorization.value),
    validAfter: String(authorization.validAfter),
    validBefore: String(authorization.validBefore),
  };
  const accepted = {
    scheme: 'exact',
    network: BASE_NETWORK,
    amount: numbers.value,
    asset: BASE_USDC,
    payTo: authorization.to,
    maxTimeoutSeconds: 300,
    extra: USDC_EXTRA,
  };
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      accepted,
      payload: { signature, authorization: { ...authorization, ...numbers } },
    },
    paymentRequirements: accepted,
  };
}

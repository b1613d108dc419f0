import type { PaymentOption, PaymentRequired } from '@svc/api/wallets';
import { CallError } from '../api/call-error.js';
import { call } from '../api/client.js';
import type { ReplyAt } from '../api/routes.js';

const PATH = '/api/v1/x402/top-up';
const HEADER = 'payment-signature';
const PENDING = 409;
/** How long a payment that is on its way is asked for again. */
const ASKED_MS = 120_000;
const PAUSE_MS = 2_000;

export type ToppedUp = ReplyAt<'POST', typeof PATH>['data'];

/** The ways to pay an amount; the service names them in a refusal. */
export async function paymentOptions(amount: string): Promise<readonly PaymentOption[]> {
  try {
    await call('POST', PATH, { query: { amount } });
    return [];
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 402) throw error;
    return (error.details.body as PaymentRequired).accepts;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends a signed payment, the same one again while it is on its way: another one would pay twice. */
export async function pay(header: string, amount: string): Promise<ToppedUp> {
  const endMs = Date.now() + ASKED_MS;
  for (;;) {
    try {
      return (await call('POST', PATH, { query: { amount }, headers: { [HEADER]: header } })).data;
    } catch (error) {
      const isPending = error instanceof CallError && (error.status === PENDING || error.status === 0);
      if (!isPending || Date.now() > endMs) throw error;
      await pause(PAUSE_MS);
    }
  }
}

import { BASE_NETWORK, BASE_USDC, SOLANA_NETWORK, SOLANA_USDC, USDC_EXTRA } from '@svc/contracts';
import { z } from 'zod';
import { ChainAway } from '../chains/chain.js';
import { timedCall } from '../chains/node-calls.js';
import { getJson, postJson } from '../chains/post-json.js';
import type { Authorization, SignedPayment, SolanaTransfer } from '../header/payment-header.js';

const SETTLE_MS = 30_000;
const SUPPORTED_MS = 5_000;

const RESPONSE_BYTES = 65_536;

/** How long a facilitator's supported kinds are cached. */
const FRESH_MS = 60_000;

/** The id of a transaction on Base or Solana. */
const NAME = /^(?:0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/i;

const SettleResponse = z.object({
  success: z.boolean(),
  transaction: z.string().regex(NAME).optional().catch(undefined),
});

const Supported = z.object({
  kinds: z.array(
    z.object({
      scheme: z.string(),
      network: z.string(),
      extra: z.object({ feePayer: z.string().optional() }).nullish(),
    }),
  ),
});

/**
 * Submits payments through the HTTP interface of x402. Its statements about their outcome are not trusted:
 * the chain is checked.
 */
export class Facilitator {
  private readonly url: string;
  private latest: { readonly feePayer: string; readonly untilMs: number } | undefined;

  constructor(url: string) {
    this.url = url.replace(/\/$/, '');
  }

  /**
   * Submits a payment. Returns the transaction that the facilitator names, if any; a timeout and a refusal
   * are equal.
   */
  async settle(signed: SignedPayment): Promise<string | undefined> {
    const rail = signed.network === SOLANA_NETWORK ? 'solana' : 'base';
    try {
      return await timedCall(rail, 'facilitator', () => this.postSettlement(signed));
    } catch {
      return undefined;
    }
  }

  /**
   * The account that pays the fees of its Solana payments. Throws ChainAway if the facilitator has never
   * returned one.
   */
  async feePayer(): Promise<string> {
    if (this.latest && performance.now() < this.latest.untilMs) return this.latest.feePayer;
    try {
      const feePayer = await timedCall('solana', 'facilitator', () => this.fetchFeePayer());
      this.latest = { feePayer, untilMs: performance.now() + FRESH_MS };
    } catch {
      if (!this.latest)
        throw new ChainAway('the facilitator does not say which account pays the fees on Solana');
    }
    return this.latest.feePayer;
  }

  private async postSettlement(signed: SignedPayment): Promise<string | undefined> {
    const call =
      signed.network === SOLANA_NETWORK ? transferCall(signed, await this.feePayer()) : baseCall(signed);
    const bounds = { timeoutMs: SETTLE_MS, maxBytes: RESPONSE_BYTES };
    return SettleResponse.parse(await postJson(`${this.url}/settle`, call, bounds)).transaction;
  }

  private async fetchFeePayer(): Promise<string> {
    const bounds = { timeoutMs: SUPPORTED_MS, maxBytes: RESPONSE_BYTES };
    const { kinds } = Supported.parse(await getJson(`${this.url}/supported`, bounds));
    const kind = kinds.find(({ scheme, network, extra }) => {
      const isSolana = network === SOLANA_NETWORK || network === 'solana';
      return scheme === 'exact' && isSolana && extra?.feePayer !== undefined;
    });
    const feePayer = kind?.extra?.feePayer;
    if (feePayer === undefined) throw new Error('it does not settle on Solana');
    return feePayer;
  }
}

function baseCall({ signature, ...authorization }: Authorization): object {
  const numbers = {
    value: String(authorization.value),
    validAfter: String(authorization.validAfter),
    validBefore: String(authorization.validBefore),
  };
  const accepted = {
    network: BASE_NETWORK,
    amount: numbers.value,
    asset: BASE_USDC,
    payTo: authorization.to,
    extra: USDC_EXTRA,
  };
  return settleCall(accepted, { signature, authorization: { ...authorization, ...numbers } });
}

function transferCall({ value, to, wire }: SolanaTransfer, feePayer: string): object {
  const accepted = {
    network: SOLANA_NETWORK,
    amount: String(value),
    asset: SOLANA_USDC,
    payTo: to,
    extra: { feePayer },
  };
  return settleCall(accepted, { transaction: wire });
}

function settleCall(terms: object, payload: object): object {
  const accepted = { scheme: 'exact', ...terms, maxTimeoutSeconds: 300 };
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted, payload },
    paymentRequirements: accepted,
  };
}

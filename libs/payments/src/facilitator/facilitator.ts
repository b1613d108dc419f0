import { z } from 'zod';
import { ChainAway } from '../chains/chain.js';
import { timedCall } from '../chains/node-calls.js';
import { getJson, postJson } from '../chains/post-json.js';
import type { SignedPayment } from '../header/payment-header.js';

const SETTLE_MS = 30_000;
const SUPPORTED_MS = 5_000;

const RESPONSE_BYTES = 65_536;

/** How long a facilitator's supported kinds are cached. */
const FRESH_MS = 60_000;

/** The id of a transaction: a hash of an EVM chain, a signature of Solana. */
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

/** What a facilitator needs of a payment, in addition to its network, asset, amount and receiver. */
interface FacilitatedMessage {
  readonly extra: object;
  readonly payload: object;
}

/** A rail whose payments a facilitator may submit. */
export interface FacilitatedRail {
  readonly name: string;
  /** CAIP-2. */
  readonly network: string;
  messageOf(signed: SignedPayment, feePayer: () => Promise<string>): Promise<FacilitatedMessage>;
}

/**
 * Submits payments through the HTTP interface of x402. Its statements about their outcome are not trusted:
 * the chain is checked.
 */
export class Facilitator {
  private readonly url: string;
  private latest: { readonly feePayer: string; readonly untilMs: number } | undefined;
  private asking: Promise<string> | undefined;

  constructor(
    url: string,
    private readonly rail: FacilitatedRail,
  ) {
    this.url = url.replace(/\/$/, '');
  }

  /**
   * Submits a payment. Returns the transaction that the facilitator names, if any; a timeout and a refusal
   * are equal.
   */
  async settle(signed: SignedPayment): Promise<string | undefined> {
    try {
      return await timedCall(this.rail.name, 'facilitator', () => this.postSettlement(signed));
    } catch {
      return undefined;
    }
  }

  /**
   * The account that pays the fees of its payments, which their payers have to name. Calls at the same time
   * share one question. Throws ChainAway if the facilitator has never returned one.
   */
  feePayer(): Promise<string> {
    if (this.latest && performance.now() < this.latest.untilMs) return Promise.resolve(this.latest.feePayer);
    this.asking ??= this.askFeePayer().finally(() => (this.asking = undefined));
    return this.asking;
  }

  private async askFeePayer(): Promise<string> {
    try {
      const feePayer = await timedCall(this.rail.name, 'facilitator', () => this.fetchFeePayer());
      this.latest = { feePayer, untilMs: performance.now() + FRESH_MS };
    } catch {
      if (!this.latest)
        throw new ChainAway(`the facilitator does not say which account pays the fees on ${this.rail.name}`);
    }
    return this.latest.feePayer;
  }

  private async postSettlement(signed: SignedPayment): Promise<string | undefined> {
    const call = settleCall(signed, await this.rail.messageOf(signed, () => this.feePayer()));
    const bounds = { timeoutMs: SETTLE_MS, maxBytes: RESPONSE_BYTES };
    return SettleResponse.parse(await postJson(`${this.url}/settle`, call, bounds)).transaction;
  }

  private async fetchFeePayer(): Promise<string> {
    const bounds = { timeoutMs: SUPPORTED_MS, maxBytes: RESPONSE_BYTES };
    const { kinds } = Supported.parse(await getJson(`${this.url}/supported`, bounds));
    const kind = kinds.find(({ scheme, network, extra }) => {
      // Version 1 of x402 has names instead of CAIP-2.
      const isRail = network === this.rail.network || network === this.rail.name;
      return scheme === 'exact' && isRail && extra?.feePayer !== undefined;
    });
    const feePayer = kind?.extra?.feePayer;
    if (feePayer === undefined) throw new Error(`it does not settle on ${this.rail.name}`);
    return feePayer;
  }
}

function settleCall(
  { network, asset, value, to }: SignedPayment,
  { extra, payload }: FacilitatedMessage,
): object {
  const terms = { network, amount: String(value), asset, payTo: to, extra };
  const accepted = { scheme: 'exact', ...terms, maxTimeoutSeconds: 300 };
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted, payload },
    paymentRequirements: accepted,
  };
}

import { Injectable } from '@nestjs/common';
import {
  BASE_NETWORK,
  BASE_USDC,
  type Balances,
  TOP_UP_LEAST_USD,
  USDC_DECIMALS,
  WALLET_FLOOR_NANO,
  usdNumber,
} from '@svc/contracts/money';
import { type Caller, Ledger } from '@svc/contracts/ports';
import type { PaymentOption, PaymentRequired, WalletPaymentRequired } from '@svc/api/wallets';
import { Problem } from '@svc/contracts/problems';
import { within, type Incoming, type Outgoing } from '@svc/runtime';
import { signInChallenge, signInExtension } from './challenge.js';
import { PaymentOffers } from './payment-offers.js';
import { PublicOrigin } from './public-origin.js';

/**
 * The suggested top-up in USD, also the amount offered for a single request. Source: the public interface.
 */
export const SUGGESTED_USD = 10;

const TOP_UP_PATH = '/api/v1/x402/top-up';

/** How long a refusal waits for the wallet's balance. */
const KNOWN_WITHIN_MS = 250;

const CREDENTIALS_NEEDED = 'Send an API key, or sign in with a wallet.';

const PAYMENT_REQUIRED_HEADER = 'payment-required';

/** Creates payment instructions in the format of x402 version 2. */
@Injectable()
export class PaymentDemands {
  constructor(
    private readonly origin: PublicOrigin,
    private readonly ledger: Ledger,
    private readonly offers: PaymentOffers,
  ) {}

  /** Responds to a request without credentials: how to pay, and how to send keys and sign-ins. */
  async discover(request: Incoming, reply: Outgoing): Promise<void> {
    const required = this.required(request, await this.offers.ifAny(SUGGESTED_USD));
    const origin = this.origin.find(request);
    const docs = `${origin?.origin ?? `${request.protocol}://${request.host}`}/docs`;
    const body: PaymentRequired = {
      ...required,
      authOptions: {
        apiKey: { header: 'Authorization: Bearer <API_KEY>', getKey: docs, docs },
        ...(origin && {
          x402Wallet: {
            header: 'SIGN-IN-WITH-X',
            legacyHeader: 'X-Sign-In-With-X',
            topUp: `POST ${origin.origin}${TOP_UP_PATH}`,
            docs,
          },
        }),
      },
    };
    reply.header(PAYMENT_REQUIRED_HEADER, encoded(required));
    reply.header('content-type', 'application/json; charset=utf-8');
    const problem = new Problem('PAYMENT_REQUIRED', { message: CREDENTIALS_NEEDED });
    const own = request.matchedRoute?.errors?.bodyOf(problem, request.id);
    void reply.status(402).send(JSON.stringify({ ...body, ...own }));
  }

  /**
   * Replaces a lack of credit by top-up instructions if the caller is a wallet; returns other errors
   * unchanged.
   */
  async refusalFor(
    caller: Caller,
    error: unknown,
    at: { request: Incoming; reply: Outgoing },
  ): Promise<unknown> {
    if (!caller.wallet || !(error instanceof Problem) || error.code !== 'INSUFFICIENT_BALANCE') return error;
    const origin = this.origin.find(at.request);
    if (!origin) return error;
    const accepts = await this.offers.ifAny(SUGGESTED_USD);
    at.reply.header(PAYMENT_REQUIRED_HEADER, encoded(this.required(at.request, accepts)));
    const balances = await this.available(caller);
    const { rails } = this.offers;
    const body = shortOfCredit({
      origin,
      uri: `${origin.origin}${at.request.url}`,
      accepts,
      rails,
      balances,
    });
    return new Problem('PAYMENT_REQUIRED', { body, cause: error });
  }

  /** The instructions for a top-up of this number of dollars. Refuses: X402_NOT_CONFIGURED, UNAVAILABLE. */
  async forTopUp(usd: string, request: Incoming, reply: Outgoing): Promise<Problem> {
    const accepts = await this.offers.of(Number(usd));
    const body = this.required(request, accepts, 'Credit for this wallet');
    reply.header(PAYMENT_REQUIRED_HEADER, encoded(body));
    return new Problem('PAYMENT_REQUIRED', { body });
  }

  private required(
    request: Incoming,
    accepts: PaymentOption[],
    description = request.matchedRoute?.summary ?? 'A request',
  ): PaymentRequired {
    const origin = this.origin.find(request);
    const url = `${origin?.origin ?? `${request.protocol}://${request.host}`}${request.url}`;
    return {
      x402Version: 2,
      error: 'Payment required',
      resource: { url, description, mimeType: 'application/json' },
      accepts,
      extensions: origin ? signInExtension(origin, url) : {},
    };
  }

  private async available({ accountId }: Caller): Promise<Balances | undefined> {
    try {
      return await within(KNOWN_WITHIN_MS, this.ledger.available(accountId));
    } catch {
      return undefined;
    }
  }
}

interface Shortage {
  readonly origin: URL;
  readonly uri: string;
  readonly accepts: readonly PaymentOption[];
  readonly rails: readonly string[];
  /** The wallet's balances, if available. */
  readonly balances: Balances | undefined;
}

function shortOfCredit({ origin, uri, accepts, rails, balances }: Shortage): WalletPaymentRequired {
  const [first] = accepts;
  const topUp = `${origin.origin}${TOP_UP_PATH}`;
  return {
    error: 'Payment required',
    code: 'PAYMENT_REQUIRED',
    reason: 'insufficient_balance',
    message: 'This wallet has too little credit. Top up, then retry with a new sign-in.',
    ...(balances && { currentBalanceUsd: usdNumber(balances.usdNano) }),
    minimumBalanceUsd: usdNumber(WALLET_FLOOR_NANO),
    suggestedTopUpUsd: SUGGESTED_USD,
    minimumTopUpUsd: TOP_UP_LEAST_USD,
    supportedTokens: ['USDC'],
    supportedChains: [...rails],
    topUpInstructions: {
      step1: `POST ${topUp} without a payment header, and choose one of \`accepts\`.`,
      step2: `Sign a payment of ${TOP_UP_LEAST_USD} USDC or more to it with your wallet.`,
      step3: `POST ${topUp} again with the payment in the header PAYMENT-SIGNATURE.`,
      receiverWallet: first?.payTo ?? '',
      tokenAddress: first?.asset ?? BASE_USDC,
      tokenDecimals: USDC_DECIMALS,
      network: first?.network ?? BASE_NETWORK,
      minimumAmountUsd: TOP_UP_LEAST_USD,
    },
    siwxChallenge: signInChallenge(origin, uri),
  };
}

const encoded = (required: PaymentRequired): string =>
  Buffer.from(JSON.stringify(required)).toString('base64');

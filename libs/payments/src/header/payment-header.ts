import {
  BASE_NETWORK,
  BASE_USDC,
  Problem,
  type SOLANA_NETWORK,
  type SOLANA_USDC,
  TOP_UP_LEAST_USD,
  TOP_UP_MOST_USD,
  walletName,
} from '@svc/contracts';
import { boundedJson } from '@svc/runtime';
import { z } from 'zod';

/**
 * Maximum characters of a header: a smart wallet that is not deployed yet needs a signature of some thousand.
 */
const HEADER_MOST = 16_384;

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

const UNITS_PER_USD = 1_000_000n;

/** Decimal strings; some clients send numbers. */
const Uint = z.union([z.string().regex(/^\d{1,78}$/), z.int().nonnegative()]).transform(BigInt);

/** The case of letters is an optional checksum. */
const Address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .transform((text) => text.toLowerCase());
const Hex = (bytes: number) => z.string().regex(new RegExp(`^0x[0-9a-f]{${bytes * 2}}$`, 'i'));

const Exact = z.object({
  signature: z.string().regex(/^0x(?:[0-9a-f]{2}){64,5000}$/i),
  authorization: z.object({
    from: Address,
    to: Address,
    value: Uint,
    validAfter: Uint,
    validBefore: Uint,
    nonce: Hex(32),
  }),
});

const Terms = z.object({
  scheme: z.string(),
  network: z.string(),
  asset: z.string().optional(),
  payTo: z.string().optional(),
});

/** Version 2 has `accepted`; older clients send scheme and network next to the payload. */
const Payment = z
  .object({
    x402Version: z.union([z.literal(1), z.literal(2)]),
    accepted: Terms.optional(),
    scheme: z.string().optional(),
    network: z.string().optional(),
    payload: z.unknown(),
  })
  .transform(({ accepted, scheme, network, payload }) => ({
    terms: accepted ?? { ...(scheme !== undefined && { scheme }), ...(network !== undefined && { network }) },
    payload,
  }));

/** Permission to move USDC on Base once, signed by the payer. Source: EIP-3009. */
export interface Authorization {
  readonly network: typeof BASE_NETWORK;
  readonly asset: typeof BASE_USDC;
  readonly from: `0x${string}`;
  readonly to: `0x${string}`;
  /** In millionths of a dollar. */
  readonly value: bigint;
  /** Unix seconds. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: `0x${string}`;
  readonly signature: `0x${string}`;
}

/** A transaction on Solana that moves USDC, signed by the payer. It lacks the fee payer's signature. */
export interface SolanaTransfer {
  readonly network: typeof SOLANA_NETWORK;
  readonly asset: typeof SOLANA_USDC;
  readonly from: string;
  /** The owner of the USDC account that receives it. */
  readonly to: string;
  readonly value: bigint;
  /** The SHA-256 of its message, in hex: a message is executed once. */
  readonly nonce: string;
  readonly signature: string;
  /** The serialized transaction, in base64. */
  readonly wire: string;
}

export type SignedPayment = Authorization | SolanaTransfer;

/** The content of a payment header, before any verification. */
export interface PaymentContent {
  readonly terms: Partial<z.infer<typeof Terms>>;
  readonly payload: unknown;
}

/** The identity of a payment: what can be spent only once. */
export function paymentKey({ network, asset, from, nonce }: SignedPayment): string {
  return `${network}:${walletName(asset)}:${walletName(from)}:${nonce.toLowerCase()}`;
}

/** Reads a payment header of version 1 or 2. Throws the codes of a faulty payment, before any effect. */
export function readPayment(header: string): PaymentContent {
  const content = contentOf(header);
  if (content.terms.scheme !== 'exact') throw new Problem('UNSUPPORTED_SCHEME');
  return content;
}

/** Reads a payment on Base. Throws like `readPayment`. */
export function readAuthorization({ terms, payload }: PaymentContent, payTo: string): Authorization {
  const { asset, payTo: named } = terms;
  if (asset !== undefined && asset.toLowerCase() !== BASE_USDC.toLowerCase())
    throw new Problem('UNSUPPORTED_TOKEN');
  const read = Exact.safeParse(payload);
  if (!read.success) throw new Problem('INVALID_PAYMENT', { cause: read.error });
  const { signature, authorization } = read.data;
  const receivers = [authorization.to, named ?? authorization.to];
  if (receivers.some((to) => to.toLowerCase() !== payTo.toLowerCase()))
    throw new Problem('INVALID_PAYMENT_RECIPIENT');
  if (/^0x0{40}$/.test(authorization.from)) throw new Problem('INVALID_PAYMENT_PAYER');
  checkAmount(authorization.value);
  return { network: BASE_NETWORK, asset: BASE_USDC, ...authorization, signature } as Authorization;
}

/** Throws for amounts not on sale: INVALID_AMOUNT, AMOUNT_TOO_LOW, AMOUNT_TOO_HIGH. */
export function checkAmount(units: bigint): void {
  if (units > 2n ** 63n) throw new Problem('INVALID_AMOUNT');
  if (units < BigInt(TOP_UP_LEAST_USD) * UNITS_PER_USD) throw new Problem('AMOUNT_TOO_LOW');
  if (units > BigInt(TOP_UP_MOST_USD) * UNITS_PER_USD) throw new Problem('AMOUNT_TOO_HIGH');
}

function contentOf(header: string): PaymentContent {
  if (header.length > HEADER_MOST || !BASE64.test(header)) throw new Problem('INVALID_PAYMENT_FORMAT');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'base64'));
    return Payment.parse(boundedJson(text));
  } catch (error) {
    throw new Problem('INVALID_PAYMENT_FORMAT', { cause: error });
  }
}

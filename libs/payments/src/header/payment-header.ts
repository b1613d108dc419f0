import { type PaymentRail, walletName } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { TOP_UP_LEAST_USD, TOP_UP_MOST_USD } from '@svc/contracts/money';
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

/** A payment as its payer has signed it, on any rail. */
export interface SignedPayment {
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  /** In millionths of a dollar. */
  readonly value: bigint;
  /** Unix seconds; both are 0 on a chain whose payments have no such times. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** What the payer can spend only once. */
  readonly nonce: string;
  readonly signature: string;
  /** The transaction, if the payer signs that itself. */
  readonly wire?: string;
}

/** Permission to move USDC on an EVM chain once. Source: EIP-3009. */
export interface Authorization extends SignedPayment {
  readonly from: `0x${string}`;
  readonly to: `0x${string}`;
  readonly nonce: `0x${string}`;
  readonly signature: `0x${string}`;
}

/**
 * A transaction on Solana that moves USDC to an account of `to`. It lacks the fee payer's signature. Its
 * nonce is the SHA-256 of its message, in hex: a message is executed once.
 */
export interface SolanaTransfer extends SignedPayment {
  /** The serialized transaction, in base64. */
  readonly wire: string;
}

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

/** Reads a payment to `payTo` on an EVM chain with this asset. Throws like `readPayment`. */
export function readAuthorization(
  { terms, payload }: PaymentContent,
  { network, asset, payTo }: Pick<PaymentRail, 'network' | 'asset' | 'payTo'>,
): Authorization {
  const { asset: paidIn, payTo: named } = terms;
  if (paidIn !== undefined && paidIn.toLowerCase() !== asset.toLowerCase())
    throw new Problem('UNSUPPORTED_TOKEN');
  const read = Exact.safeParse(payload);
  if (!read.success) throw new Problem('INVALID_PAYMENT', { cause: read.error });
  const { signature, authorization } = read.data;
  const receivers = [authorization.to, named ?? authorization.to];
  if (receivers.some((to) => to.toLowerCase() !== payTo.toLowerCase()))
    throw new Problem('INVALID_PAYMENT_RECIPIENT');
  if (/^0x0{40}$/.test(authorization.from)) throw new Problem('INVALID_PAYMENT_PAYER');
  checkAmount(authorization.value);
  return { network, asset, ...authorization, signature } as Authorization;
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

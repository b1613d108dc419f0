import { z } from 'zod';
import { RailName } from '../money/rail-name.js';
import { PAYMENT_STATES, type Payments } from './payments.js';
import { Count, Name, type PortWire, Time, Whole } from './port-wire.js';

/** Characters of a payment header. Source: the size limit of HTTP headers. */
const HEADER_MOST = 16_384;

const terms = { network: Name, asset: Name, payTo: Name, extra: z.record(z.string(), z.string()) };

/** Payments of the previous release do not name their rails. */
const Rail = z.codec(
  z.object({ name: RailName.optional(), ...terms }),
  z.object({ name: RailName, ...terms }),
  { decode: (rail) => ({ ...rail, name: rail.name ?? rail.network }), encode: (rail) => rail },
);

const Credited = z.object({
  state: z.literal('credited'),
  paymentId: Name,
  wallet: Name,
  accountId: Name,
  usdNano: Whole,
  network: Name,
  transaction: Name,
  isFromPayer: z.boolean().optional(),
});

const Open = z.object({ state: z.literal('open'), paymentId: Name, retryAfterSeconds: Count });

const state = z.enum(PAYMENT_STATES);
const rail = RailName;
const Reason = z.string().max(1_000);

const RecordOnWire = z.object({
  number: Whole,
  id: Name,
  state,
  rail,
  wallet: Name,
  accountId: Name,
  payTo: Name,
  usdNano: Whole,
  transaction: Name.optional(),
  attempts: Count,
  reversals: Count,
  reason: Reason.optional(),
  lastError: Reason.optional(),
  resolution: z.enum(['credit', 'fail']).optional(),
  resolutionReason: Reason.optional(),
  createdAt: Time,
  updatedAt: Time,
});

const TotalsOnWire = z.object({ rail, state, payments: Count, usdNano: Whole, oldest: Time });

const DecisionOnWire = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('credit'), transaction: Name, reason: Reason }),
  z.object({ decision: z.literal('fail'), reason: Reason }),
]);

const scope = z.enum(['whole', 'new']);

const AuditOnWire = z.object({
  ok: z.boolean(),
  scope,
  rails: z.array(
    z.object({
      rail,
      fromBlock: Whole,
      toBlock: Whole,
      payments: Count,
      transfers: Count,
      creditedNano: Whole,
      onChainNano: Whole,
      booksNano: Whole,
      unclaimed: Count,
      unclaimedNano: Whole,
    }),
  ),
  mismatches: z.array(z.string()),
  unclaimed: z.array(z.string()),
});

/** The wire format of the port `Payments`. */
export const PAYMENTS_WIRE: PortWire<Payments> = {
  rails: { arguments: z.tuple([]), result: z.array(Rail) },
  topUp: {
    arguments: z.tuple([z.string().max(HEADER_MOST), Name.optional()]),
    result: z.discriminatedUnion('state', [Credited, Open]),
  },
  unsignedTransfer: { arguments: z.tuple([z.object({ payer: Name, usdNano: Whole })]), result: z.string() },
  hasSigned: {
    arguments: z.tuple([
      z.object({ wallet: Name, text: z.string().max(HEADER_MOST), signature: z.string().max(HEADER_MOST) }),
    ]),
    result: z.boolean(),
  },
  list: {
    arguments: z.tuple([
      z.object({
        state: state.optional(),
        rail: rail.optional(),
        wallet: Name.optional(),
        limit: Count,
        before: Whole.optional(),
      }),
    ]),
    result: z.array(RecordOnWire),
  },
  get: { arguments: z.tuple([Name]), result: RecordOnWire },
  totals: { arguments: z.tuple([]), result: z.array(TotalsOnWire) },
  retry: { arguments: z.tuple([Name]), result: RecordOnWire },
  resolve: { arguments: z.tuple([Name, DecisionOnWire]), result: RecordOnWire },
  audit: { arguments: z.tuple([scope]), result: AuditOnWire },
};

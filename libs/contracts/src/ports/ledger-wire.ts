import { z } from 'zod';
import { type Charge, UsageRecorded, decodeCharge, encodeCharge } from '../messages/usage.js';
import { type Books, HOLDS_PER_RENEWAL, LIMIT_PERIODS, type Ledger, TRANSFER_KINDS } from './ledger.js';
import {
  BalancesOnWire,
  Count,
  Name,
  Nothing,
  type PortWire,
  SignedWhole,
  Time,
  Whole,
} from './port-wire.js';

const KeyLimit = z.object({
  period: z.enum(LIMIT_PERIODS),
  usdNano: Whole.optional(),
  diemNano: Whole.optional(),
});

const HoldRequestOnWire = z.object({
  requestId: Name,
  accountId: Name,
  keyId: Name,
  amountNano: Whole,
  atLeastNano: Whole.optional(),
  preferredNano: Whole.optional(),
  keyLimit: KeyLimit.optional(),
});

const HoldOnWire = z.object({
  requestId: Name,
  accountId: Name,
  keyId: Name,
  amount: BalancesOnWire,
  before: BalancesOnWire,
  keyLimit: KeyLimit.optional(),
});

const ExtensionOnWire = z.object({ moreNano: Whole, atLeastNano: Whole.optional() });

const ChargeOnWire = z.codec(UsageRecorded, z.custom<Charge>(), {
  decode: decodeCharge,
  encode: encodeCharge,
});

/** How the port `Ledger` crosses a wire. */
export const LEDGER_WIRE: PortWire<Ledger> = {
  hold: { arguments: z.tuple([HoldRequestOnWire]), result: HoldOnWire },
  available: { arguments: z.tuple([Name]), result: BalancesOnWire },
  extend: { arguments: z.tuple([HoldOnWire, ExtensionOnWire]), result: HoldOnWire },
  renew: { arguments: z.tuple([z.array(HoldOnWire).max(HOLDS_PER_RENEWAL)]), result: Nothing },
  settle: { arguments: z.tuple([HoldOnWire, ChargeOnWire]), result: Nothing },
  release: { arguments: z.tuple([HoldOnWire]), result: Nothing },
};

const TransferOnWire = z.object({
  id: Whole,
  kind: z.enum(TRANSFER_KINDS),
  debitAccount: Name,
  creditAccount: Name,
  currency: z.enum(['USD', 'DIEM']),
  amountNano: Whole,
  reference: Name,
  at: Time,
});

const StakeOnWire = z.object({ accountId: Name, tokensNano: Whole, grantedOn: z.iso.date().optional() });

const scope = z.enum(['whole', 'new']);

const AuditReportOnWire = z.object({
  ok: z.boolean(),
  scope,
  since: Time.optional(),
  accounts: Count,
  transfers: Count,
  charges: Count,
  imbalanceUsdNano: SignedWhole,
  imbalanceDiemNano: SignedWhole,
  mismatches: z.array(z.string()),
});

/** How the port `Books` crosses a wire. */
export const BOOKS_WIRE: PortWire<Books> = {
  balances: { arguments: z.tuple([Name]), result: BalancesOnWire },
  credit: {
    arguments: z.tuple([z.object({ accountId: Name, usdNano: Whole, reference: Name })]),
    result: TransferOnWire,
  },
  refund: {
    arguments: z.tuple([
      z.object({ accountId: Name, requestId: Name, reference: Name, amount: BalancesOnWire.optional() }),
    ]),
    result: z.array(TransferOnWire),
  },
  stake: { arguments: z.tuple([Name]), result: StakeOnWire },
  setStake: { arguments: z.tuple([Name, Whole]), result: StakeOnWire },
  transfers: {
    arguments: z.tuple([Name, z.object({ limit: Count, before: Whole.optional() })]),
    result: z.array(TransferOnWire),
  },
  audit: { arguments: z.tuple([scope]), result: AuditReportOnWire },
};

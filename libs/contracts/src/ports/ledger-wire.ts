import { z } from 'zod';
import { RailName } from '../money/rail-name.js';
import { type Charge, UsageRecorded, decodeCharge, encodeCharge } from '../messages/usage.js';
import {
  ALERTS_MAX,
  type Alert,
  type Books,
  CHARGES_PER_POSTING,
  DEPOSITS_AT_ONCE,
  type Charges,
  HOLDS_PER_RENEWAL,
  type Holds,
  ALERT_PERIODS,
  LIMIT_PERIODS,
  type Ledger,
  OPEN_HOLDS_SHOWN,
  TRANSFER_KINDS,
} from './ledger.js';
import {
  BalancesOnWire,
  Count,
  Name,
  Nothing,
  type PortWire,
  SignedWhole,
  Time,
  Whole,
  withUnit,
} from './port-wire.js';

const KeyLimit = z.object({
  period: z.enum(LIMIT_PERIODS),
  usdNano: Whole.optional(),
  diemNano: Whole.optional(),
});

const EndUserLimit = KeyLimit.extend({ endUser: Name });

const HoldRequestOnWire = z.object({
  requestId: Name,
  accountId: Name,
  keyId: Name,
  amountNano: Whole,
  atLeastNano: Whole.optional(),
  preferredNano: Whole.optional(),
  keyLimit: KeyLimit.optional(),
  userLimit: EndUserLimit.optional(),
});

const HoldOnWire = z.object({
  requestId: Name,
  accountId: Name,
  keyId: Name,
  amount: BalancesOnWire,
  before: BalancesOnWire,
  keyLimit: KeyLimit.optional(),
  userLimit: EndUserLimit.optional(),
});

const ExtensionOnWire = z.object({ moreNano: Whole, atLeastNano: Whole.optional() });

const ChargeOnWire = z.codec(UsageRecorded, z.custom<Charge>(), {
  decode: decodeCharge,
  encode: encodeCharge,
});

const HOLDING: Omit<PortWire<Ledger>, 'settle'> = {
  hold: { isPlain: true, arguments: z.tuple([HoldRequestOnWire]), result: HoldOnWire },
  available: { isPlain: true, arguments: z.tuple([Name]), result: BalancesOnWire },
  extend: { isPlain: true, arguments: z.tuple([HoldOnWire, ExtensionOnWire]), result: HoldOnWire },
  renew: { isPlain: true, arguments: z.tuple([z.array(HoldOnWire).max(HOLDS_PER_RENEWAL)]), result: Nothing },
  release: { isPlain: true, arguments: z.tuple([HoldOnWire]), result: Nothing },
};

/** The wire format of the port `Ledger`. */
export const LEDGER_WIRE: PortWire<Ledger> = {
  ...HOLDING,
  settle: { arguments: z.tuple([HoldOnWire, ChargeOnWire]), result: Nothing },
};

/** The wire format of the port `Holds`. */
export const HOLDS_WIRE: PortWire<Holds> = {
  ...HOLDING,
  settle: { isPlain: true, arguments: z.tuple([HoldOnWire, BalancesOnWire]), result: Nothing },
};

/** The wire format of the port `Charges`. */
export const CHARGES_WIRE: PortWire<Charges> = {
  post: { arguments: z.tuple([z.array(ChargeOnWire).max(CHARGES_PER_POSTING)]), result: Nothing },
  giveBack: { arguments: z.tuple([ChargeOnWire]), result: Nothing },
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

const PostedChargeOnWire = z.object({
  requestId: Name,
  accountId: Name,
  keyId: Name,
  model: z.string(),
  backend: z.string(),
  at: Time,
  usage: z.object({
    promptTokens: Count,
    completionTokens: Count,
    cachedTokens: Count,
    cacheWriteTokens: Count,
    reasoningTokens: Count,
  }),
  cost: BalancesOnWire,
  writeOffNano: Whole,
  durationMs: Count,
  lines: z.array(
    withUnit(
      z.object({
        sku: z.string(),
        unit: z.string(),
        units: Count,
        priceNanoPerMillion: Whole,
        amountNano: Whole,
        providerNano: Whole.optional(),
        paid: BalancesOnWire,
      }),
    ),
  ),
  refunds: z.array(
    z.object({
      reference: Name,
      amount: BalancesOnWire,
      cause: z.enum(['operator', 'failed_request']),
      at: Time,
    }),
  ),
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

const OpenHoldOnWire = z.object({
  requestId: Name,
  keyId: Name,
  amount: BalancesOnWire,
  leftMs: Count,
});

const alertTerms = { currency: z.enum(['USD', 'DIEM']), amountNano: Whole };

const AlertsOnWire: z.ZodType<readonly Alert[]> = z
  .array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('balance.low'), ...alertTerms }),
      z.object({
        type: z.literal('key.spend_threshold'),
        keyId: Name,
        period: z.enum(ALERT_PERIODS),
        ...alertTerms,
      }),
      z.object({
        type: z.literal('end_user.spend_threshold'),
        endUser: Name,
        period: z.enum(ALERT_PERIODS),
        ...alertTerms,
      }),
    ]),
  )
  .max(ALERTS_MAX);

/** The wire format of the port `Books`. */
export const BOOKS_WIRE: PortWire<Books> = {
  alerts: { arguments: z.tuple([Name]), result: AlertsOnWire },
  setAlerts: { arguments: z.tuple([Name, AlertsOnWire]), result: Nothing },
  balances: { arguments: z.tuple([Name]), result: BalancesOnWire },
  credit: {
    arguments: z.tuple([
      z.object({
        accountId: Name,
        usdNano: Whole,
        reference: Name,
        rail: RailName.optional(),
      }),
    ]),
    result: TransferOnWire,
  },
  debit: {
    arguments: z.tuple([z.object({ accountId: Name, usdNano: Whole, reference: Name })]),
    result: TransferOnWire,
  },
  reverse: {
    arguments: z.tuple([z.object({ accountId: Name, rail: RailName.optional(), reference: Name })]),
    result: TransferOnWire,
  },
  deposits: {
    arguments: z.tuple([
      z.union([
        z.object({ references: z.array(Name).max(DEPOSITS_AT_ONCE) }),
        z.object({ after: Whole, limit: Count.max(DEPOSITS_AT_ONCE) }),
      ]),
    ]),
    result: z.array(TransferOnWire),
  },
  refund: {
    arguments: z.tuple([
      z.object({ accountId: Name, requestId: Name, reference: Name, amount: BalancesOnWire.optional() }),
    ]),
    result: z.array(TransferOnWire),
  },
  charge: { arguments: z.tuple([Name]), result: PostedChargeOnWire },
  openHolds: { arguments: z.tuple([Name]), result: z.array(OpenHoldOnWire).max(OPEN_HOLDS_SHOWN) },
  stake: { arguments: z.tuple([Name]), result: StakeOnWire },
  setStake: { arguments: z.tuple([Name, Whole]), result: StakeOnWire },
  transfers: {
    arguments: z.tuple([
      Name,
      z.object({
        limit: Count,
        before: Whole.optional(),
        kind: z.enum(TRANSFER_KINDS).optional(),
        from: Time.optional(),
        until: Time.optional(),
      }),
    ]),
    result: z.array(TransferOnWire),
  },
  audit: { arguments: z.tuple([scope]), result: AuditReportOnWire },
};

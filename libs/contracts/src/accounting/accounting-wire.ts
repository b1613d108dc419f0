import { z } from 'zod';
import { TRANSFER_KINDS } from '../ports/ledger.js';
import { BalancesOnWire, Count, Name, type PortWire, SignedWhole, Time, Whole } from '../ports/port-wire.js';
import { type Accounting, BALANCES_AT_ONCE } from './accounting.js';

const EntryOnWire = z.object({
  entry: z.enum(['opening_balance', ...TRANSFER_KINDS, 'closing_balance']),
  detail: Name,
  currency: z.enum(['USD', 'DIEM']),
  amountNano: Whole,
  changeNano: SignedWhole,
});

const MonthEntryOnWire = EntryOnWire.extend({
  entry: z.enum([...EntryOnWire.shape.entry.options, 'provider_cost', 'margin']),
  amountNano: SignedWhole,
});

const Month = z.string().regex(/^\d{4}-\d{2}$/);

/** The wire format of the port `Accounting`. */
export const ACCOUNTING_WIRE: PortWire<Accounting> = {
  balances: {
    arguments: z.tuple([z.array(Name).max(BALANCES_AT_ONCE)]),
    result: z.array(BalancesOnWire.extend({ accountId: Name })),
  },
  spenders: {
    arguments: z.tuple([
      z.object({
        from: z.iso.date(),
        until: z.iso.date(),
        limit: Count,
        by: z.enum(['cost', 'tokens', 'requests']).optional(),
        accountIds: z.array(Name).optional(),
      }),
    ]),
    result: z.array(
      z.object({
        accountId: Name,
        requests: Whole.optional(),
        tokens: Whole,
        charged: BalancesOnWire,
        refunded: BalancesOnWire,
      }),
    ),
  },
  month: { arguments: z.tuple([Month]), result: z.array(MonthEntryOnWire) },
  statement: {
    arguments: z.tuple([Name, Month]),
    result: z.array(EntryOnWire.extend({ at: Time, reference: Name })),
  },
};

import { z } from 'zod';
import { type Accounting, BALANCES_AT_ONCE } from './accounting.js';
import { BalancesOnWire, Count, Name, type PortWire, Whole } from '../ports/port-wire.js';

/** The wire format of the port `Accounting`. */
export const ACCOUNTING_WIRE: PortWire<Accounting> = {
  balances: {
    arguments: z.tuple([z.array(Name).max(BALANCES_AT_ONCE)]),
    result: z.array(BalancesOnWire.extend({ accountId: Name })),
  },
  spenders: {
    arguments: z.tuple([z.object({ from: z.iso.date(), until: z.iso.date(), limit: Count })]),
    result: z.array(
      z.object({ accountId: Name, tokens: Whole, charged: BalancesOnWire, refunded: BalancesOnWire }),
    ),
  },
};

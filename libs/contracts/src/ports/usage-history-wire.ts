import { z } from 'zod';
import { BalancesOnWire, Count, Name, type PortWire, Time, Whole, withUnit } from './port-wire.js';
import type { UsageHistory } from './usage-history.js';

const currency = z.enum(['USD', 'DIEM']);

const EntryOnWire = withUnit(
  z.object({
    at: Time,
    requestId: Name,
    keyId: Name,
    model: Name,
    sku: Name,
    unit: Name,
    units: Whole,
    priceNanoPerMillion: Whole,
    amountNano: Whole,
    currency,
    promptTokens: Count,
    completionTokens: Count,
    durationMs: Count,
  }),
);

const FilterOnWire = z.object({
  accountId: Name,
  from: Time.optional(),
  until: Time.optional(),
  currency: currency.optional(),
  keyId: Name.optional(),
  model: Name.optional(),
  requestId: Name.optional(),
  endUser: Name.optional(),
});

const RequestPlaceOnWire = z.object({ at: Time, requestId: Name });

const PlaceOnWire = z.object({ at: Time, requestId: Name, line: z.int(), currency });

/** The wire format of the port `UsageHistory`. */
export const USAGE_HISTORY_WIRE: PortWire<UsageHistory> = {
  page: {
    arguments: z.tuple([
      FilterOnWire,
      z.object({ limit: Count, page: Count, order: z.enum(['asc', 'desc']) }),
    ]),
    result: z.object({ entries: z.array(EntryOnWire), total: Count }),
  },
  walk: {
    arguments: z.tuple([FilterOnWire, z.object({ limit: Count, after: PlaceOnWire.optional() })]),
    result: z.object({ entries: z.array(EntryOnWire), next: PlaceOnWire.optional() }),
  },
  requests: {
    arguments: z.tuple([FilterOnWire, z.object({ limit: Count, before: RequestPlaceOnWire.optional() })]),
    result: z.object({ entries: z.array(EntryOnWire), next: RequestPlaceOnWire.optional() }),
  },
  days: {
    arguments: z.tuple([Name, z.iso.date(), z.iso.date()]),
    result: z.array(
      withUnit(
        z.object({
          day: z.iso.date(),
          keyId: Name,
          model: Name,
          sku: Name,
          unit: Name,
          units: Whole,
          usdNano: Whole,
          diemNano: Whole,
        }),
      ),
    ),
  },
  users: {
    arguments: z.tuple([
      Name,
      z.object({ from: z.iso.date(), until: z.iso.date() }),
      z.object({ limit: Count, endUser: Name.optional() }),
    ]),
    result: z.array(
      z.object({
        endUser: Name,
        requests: Count,
        promptTokens: Count,
        completionTokens: Count,
        usdNano: Whole,
        diemNano: Whole,
      }),
    ),
  },
  forgetUser: { arguments: z.tuple([Name, Name]), result: Count },
  keys: {
    arguments: z.tuple([Name, z.array(Name), z.array(Name).optional()]),
    result: z.array(
      z.object({
        keyId: Name,
        trailingSevenDays: BalancesOnWire,
        hour: BalancesOnWire.optional(),
        epoch: BalancesOnWire,
        week: BalancesOnWire,
        month: BalancesOnWire,
        lifetime: BalancesOnWire,
      }),
    ),
  },
};

import { setTimeout as sleep } from 'node:timers/promises';
import type { Charge } from '@svc/contracts/messages';
import type { Problem } from '@svc/contracts/problems';
import type { RequestPlace, UsageEntry, UsageFilter, UsageHistory, UsagePlace } from '@svc/contracts/ports';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Clock } from '../src/clock.js';
import { TIMES, line, randomCharge } from './random-charges.js';
import {
  chargeOf,
  newAccount,
  type LedgerOptions,
  type RunningLedger,
  requestOf,
  startLedger,
  usd,
} from './testing.js';

const NOON = new Date('2026-11-21T12:00:00Z');

class Noon extends Clock {
  override now(): Date {
    return NOON;
  }
}

/** Contract of the port `UsageHistory`. `at` creates the adapter for the history that `start` starts. */
export function usageHistoryConformance(
  name: string,
  at: (history: UsageHistory) => UsageHistory,
  start: (options: LedgerOptions) => Promise<RunningLedger> = startLedger,
): void {
  describe(`${name}`, () => {
    let test: TestDatabase;
    let running: RunningLedger;
    let history: UsageHistory;

    beforeAll(async () => {
      test = await startTestDatabase();
      running = await start({ url: test.url, clock: new Noon() });
      history = at(running.history);
    });

    afterAll(async () => {
      await running?.stop();
      await test?.stop();
    });

    const accountWith = (usdNano: bigint, diemNano?: bigint): Promise<string> =>
      newAccount(running, usdNano, diemNano);

    /** Entries without the fields shared by a whole charge. */
    const brief = (entries: readonly UsageEntry[]) =>
      entries.map(({ sku, currency, units, amountNano }) => [sku, currency, units, amountNano]);

    /** All entries of a walk, in steps of `limit`. */
    async function walked(filter: UsageFilter, limit: number): Promise<UsageEntry[]> {
      const found: UsageEntry[] = [];
      let after: UsagePlace | undefined;
      do {
        const { entries, next } = await history.walk(filter, after ? { limit, after } : { limit });
        found.push(...entries);
        after = next;
      } while (after);
      return found;
    }

    async function paged(filter: UsageFilter, limit: number, order: 'asc' | 'desc'): Promise<UsageEntry[]> {
      const found: UsageEntry[] = [];
      for (let page = 1; ; page += 1) {
        const { entries, total } = await history.page(filter, { limit, page, order });
        found.push(...entries);
        if (page * limit < total) continue;
        expect(found).toHaveLength(total);
        return found;
      }
    }

    describe('entries', () => {
      it("exist for each line and currency that paid it, and share the line's units exactly", async () => {
        const accountId = await accountWith(usd(1), usd(1));
        const lines = [line('input', 10, 100n), line('cache-input', 10, 300n), line('output', 7, 50n)];
        const at = '2026-10-03T00:00:00.000Z';
        const cost = { usdNano: 220n, diemNano: 200n };
        const charge = chargeOf(accountId, 0n, { at, lines, cost, writeOffNano: 30n });
        await running.poster.post([charge]);
        const { entries, total } = await history.page({ accountId }, { limit: 10, page: 1, order: 'asc' });
        expect(total).toBe(4);
        expect(brief(entries)).toEqual([
          ['model-llm-input-mtoken', 'DIEM', 10n, 100n],
          ['model-llm-cache-input-mtoken', 'DIEM', 3n, 100n],
          ['model-llm-cache-input-mtoken', 'USD', 7n, 200n],
          ['model-llm-output-mtoken', 'USD', 7n, 20n],
        ]);
        expect(entries[0]).toEqual({
          at: new Date(at),
          requestId: charge.requestId,
          keyId: 'key',
          model: 'model',
          sku: 'model-llm-input-mtoken',
          unit: 'token',
          units: 10n,
          priceNanoPerMillion: 150_000_000n,
          amountNano: 100n,
          currency: 'DIEM',
          promptTokens: 10,
          completionTokens: 20,
          durationMs: 5,
        });
      });

      it('show a line that was written off completely, with an amount of zero', async () => {
        const accountId = await accountWith(usd(1));
        const lines = [line('input', 10, 0n), line('output', 5, 90n)];
        await running.poster.post([chargeOf(accountId, 0n, { lines, writeOffNano: 90n })]);
        const { entries } = await history.page({ accountId }, { limit: 10, page: 1, order: 'asc' });
        expect(brief(entries)).toEqual([
          ['model-llm-input-mtoken', 'USD', 10n, 0n],
          ['model-llm-output-mtoken', 'USD', 5n, 0n],
        ]);
      });

      it('appear as soon as their charge is settled', async () => {
        const accountId = await accountWith(usd(1));
        const hold = await running.ledger.hold(requestOf(accountId, 1_000n));
        await running.ledger.settle(hold, chargeOf(accountId, 700n, { requestId: hold.requestId }));
        const { entries } = await history.page({ accountId }, { limit: 10, page: 1, order: 'desc' });
        expect(entries.map(({ requestId, amountNano }) => [requestId, amountNano])).toEqual([
          [hold.requestId, 700n],
        ]);
      });
    });

    describe('a random history over four months', () => {
      let accountId: string;
      let charges: Charge[];
      let all: UsageEntry[];

      beforeAll(async () => {
        accountId = await accountWith(usd(1), usd(1));
        const ofUser = (at: number) => (at % 4 > 0 ? { endUser: `eu_${at % 4}` } : {});
        charges = Array.from({ length: 120 }, (_, at) => ({ ...randomCharge(accountId), ...ofUser(at) }));
        const others = await accountWith(usd(1));
        await running.poster.post([...charges, ...charges.map(() => randomCharge(others))]);
        all = await walked({ accountId }, 1_000);
      });

      const userOf = ({ requestId }: UsageEntry): string | undefined =>
        charges.find((charge) => charge.requestId === requestId)?.endUser;

      it('adds up to what each request cost and used', () => {
        for (const { requestId, cost, lines } of charges) {
          const entries = all.filter((entry) => entry.requestId === requestId);
          const sumOf = (currency: string): bigint =>
            entries.reduce((sum, entry) => (entry.currency === currency ? sum + entry.amountNano : sum), 0n);
          expect([sumOf('USD'), sumOf('DIEM')]).toEqual([cost.usdNano, cost.diemNano]);
          for (const { sku, units } of lines) {
            const ofLine = entries.filter((entry) => entry.sku === sku);
            expect(ofLine.reduce((sum, entry) => sum + entry.units, 0n)).toBe(BigInt(units));
          }
        }
      });

      it.each([
        { keyId: 'key-1' },
        { keyId: 'key-2', model: 'model' },
        { model: 'model' },
        { model: 'other' },
        { endUser: 'eu_1' },
        { endUser: 'eu_2', keyId: 'key-1' },
        { endUser: 'eu_9' },
      ])('has, for %j, the entries of these alone, in small and large steps and pages', async (only) => {
        const filter = { accountId, ...only };
        const wanted = all.filter(
          (entry) =>
            (only.keyId ?? entry.keyId) === entry.keyId &&
            (only.model ?? entry.model) === entry.model &&
            (only.endUser === undefined || userOf(entry) === only.endUser),
        );
        for (const limit of [7, 1_000]) {
          await expect(walked(filter, limit)).resolves.toEqual(wanted);
          await expect(paged(filter, limit, 'asc')).resolves.toEqual(wanted);
        }
      });

      it('is the same by request: whole requests, newest first, in steps of any size', async () => {
        const byRequest = (entries: readonly UsageEntry[]): UsageEntry[][] =>
          [...Map.groupBy(entries, ({ requestId }) => requestId).values()].map((each) => [...each]);
        const sought = { requestId: charges[7]?.requestId ?? '' };
        for (const only of [{}, { keyId: 'key-0' }, sought, { endUser: 'eu_3' }])
          for (const limit of [1, 7, 1_000]) {
            const found: UsageEntry[][] = [];
            let before: RequestPlace | undefined;
            do {
              const step = before ? { limit, before } : { limit };
              const { entries, next } = await history.requests({ accountId, ...only }, step);
              expect(byRequest(entries).length).toBeLessThanOrEqual(limit);
              found.push(...byRequest(entries));
              before = next;
            } while (before);
            const wanted = all.filter(
              (entry) =>
                (!('keyId' in only) || entry.keyId === only.keyId) &&
                (!('requestId' in only) || entry.requestId === only.requestId) &&
                (!('endUser' in only) || userOf(entry) === only.endUser),
            );
            expect(found).toEqual(byRequest(wanted).toReversed());
          }
      });

      it('is the same in steps and pages of any size, in both orders', async () => {
        await expect(walked({ accountId }, 1)).resolves.toEqual(all);
        for (const limit of [7, 100]) {
          await expect(walked({ accountId }, limit)).resolves.toEqual(all);
          await expect(paged({ accountId }, limit, 'asc')).resolves.toEqual(all);
          await expect(paged({ accountId }, limit, 'desc')).resolves.toEqual(all.toReversed());
        }
        expect(all.map(({ at }) => at.getTime())).toEqual(
          all.map(({ at }) => at.getTime()).toSorted((a, b) => a - b),
        );
      });

      it('is filtered by currency and by time, including the start and excluding the end', async () => {
        const spans = [[], ...TIMES.map((from, index) => [from, TIMES[(index * 3) % TIMES.length]])];
        for (const [from, until] of spans) {
          for (const currency of ['USD', 'DIEM', undefined] as const) {
            const filter: UsageFilter = {
              accountId,
              ...(currency && { currency }),
              ...(from !== undefined && { from: new Date(from) }),
              ...(until !== undefined && { until: new Date(until) }),
            };
            const wanted = all.filter(
              (entry) =>
                (currency === undefined || entry.currency === currency) &&
                (from === undefined || entry.at >= new Date(from)) &&
                (until === undefined || entry.at < new Date(until)),
            );
            await expect(walked(filter, 50)).resolves.toEqual(wanted);
            await expect(paged(filter, 50, 'desc')).resolves.toEqual(wanted.toReversed());
          }
        }
      });

      it('has no page after its last', async () => {
        await expect(
          history.page({ accountId }, { limit: 500, page: 1_000_000_000, order: 'asc' }),
        ).resolves.toEqual({ entries: [], total: all.length });
      });

      it('equals its daily sums', async () => {
        const days = await history.days(accountId, '2026-09-01', '2026-10-01');
        const wanted = new Map<string, { units: bigint; usdNano: bigint; diemNano: bigint }>();
        for (const { at, keyId, model, sku, units, currency, amountNano } of all) {
          const day = at.toISOString().slice(0, 10);
          if (day < '2026-09-01' || day > '2026-10-01') continue;
          const name = JSON.stringify([day, keyId, model, sku]);
          const sum = wanted.get(name) ?? { units: 0n, usdNano: 0n, diemNano: 0n };
          sum.units += units;
          sum[currency === 'USD' ? 'usdNano' : 'diemNano'] += amountNano;
          wanted.set(name, sum);
        }
        const found = days.map(({ day, keyId, model, sku, unit: _, ...sums }) => [
          JSON.stringify([day, keyId, model, sku]),
          sums,
        ]);
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
        expect(found).toHaveLength(wanted.size);
      });
    });

    describe('a walk', () => {
      it('finds everything settled before it exactly once, while more is posted', async () => {
        const accountId = await accountWith(usd(1));
        const before = Array.from({ length: 60 }, () => chargeOf(accountId, 10n));
        await running.poster.post(before);
        const ended = new AbortController();
        const writer = (async () => {
          while (!ended.signal.aborted) {
            await running.poster.post(Array.from({ length: 5 }, () => chargeOf(accountId, 10n)));
            await sleep(1);
          }
        })();
        const found: string[] = [];
        let after: UsagePlace | undefined;
        for (let step = 0; step < 40; step += 1) {
          const { entries, next } = await history.walk(
            { accountId },
            after ? { limit: 3, after } : { limit: 3 },
          );
          found.push(...entries.map(({ requestId }) => requestId));
          if (!next) break;
          after = next;
        }
        ended.abort();
        await writer;
        expect(new Set(found).size).toBe(found.length);
        expect(found).toEqual(expect.arrayContaining(before.map(({ requestId }) => requestId)));
      });

      it('covers a limited number of charges per step and continues from there, if few match its currency', async () => {
        const accountId = await accountWith(usd(1), usd(1));
        const at = '2026-10-05T00:00:00Z';
        await running.database.query(
          `WITH charge AS (
         INSERT INTO ledger.charges (request_id, at, account_id, key_id, model, backend, prompt_tokens,
           completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, usd_nano, diem_nano,
           write_off_nano, duration_ms)
         SELECT 'many-' || n, $2::timestamptz + n * interval '1 ms', $1, 'key', 'model', 'b', 1, 1, 0, 0, 0, 0, 0, 0, 1
         FROM generate_series(1, 45000) AS n RETURNING request_id, at
       )
       INSERT INTO ledger.charge_lines (request_id, at, line, sku, units, price_nano_per_million, amount_nano,
         usd_nano, diem_nano)
       SELECT request_id, at, 0, 'sku', 1, 0, 0, 0, 0 FROM charge`,
          [accountId, at],
        );
        const wanted = [line('output', 5, 90n)];
        const cost = { usdNano: 0n, diemNano: 90n };
        const charge = chargeOf(accountId, 0n, { lines: wanted, cost, at: '2026-10-06T00:00:00.000Z' });
        await running.poster.post([charge]);
        const filter = { accountId, currency: 'DIEM' } as const;
        const first = await history.walk(filter, { limit: 100 });
        expect(first.entries).toEqual([]);
        expect(first.next).toMatchObject({ requestId: 'many-20001' });
        const found = await walked(filter, 100);
        expect(found.map(({ requestId }) => requestId)).toEqual([charge.requestId]);
        await expect(history.page(filter, { limit: 1, page: 1, order: 'asc' })).resolves.toMatchObject({
          total: 1,
          entries: found,
        });
      });
    });

    describe('keys', () => {
      it('report spending of today, seven days, the week, the month and all time', async () => {
        const accountId = await accountWith(usd(1), usd(1));
        const daysAgo = (days: number): string => new Date(NOON.getTime() - days * 86_400_000).toISOString();
        const spending = [0, 5, 6, 7, 70].map((days, index) => {
          const cost = { usdNano: 10n ** BigInt(index), diemNano: 2n * 10n ** BigInt(index) };
          const lines = [line('output', 1, cost.usdNano + cost.diemNano)];
          return chargeOf(accountId, 0n, { at: daysAgo(days), keyId: 'a', cost, lines });
        });
        await running.poster.post([...spending, chargeOf(accountId, 5n, { keyId: 'b', at: daysAgo(0) })]);
        const [a, none] = await history.keys(accountId, ['a', 'none']);
        const hours = await history.keys(accountId, ['a', 'b', 'none'], ['a', 'none']);
        const both = (nano: bigint) => ({ usdNano: nano, diemNano: 2n * nano });
        expect(a).toEqual({
          keyId: 'a',
          trailingSevenDays: both(111n),
          epoch: both(1n),
          // Since the Monday five days ago.
          week: both(11n),
          month: both(1_111n),
          lifetime: both(11_111n),
        });
        expect(none).toEqual({
          keyId: 'none',
          trailingSevenDays: both(0n),
          epoch: both(0n),
          week: both(0n),
          month: both(0n),
          lifetime: both(0n),
        });
        expect(hours.map(({ hour }) => hour)).toEqual([both(1n), undefined, both(0n)]);
      });
    });

    describe('reads that fail', () => {
      it('are rejected in time, leave connections free, and work again afterwards', async () => {
        const accountId = await accountWith(usd(1));
        const page = { limit: 1, page: 1, order: 'asc' } as const;
        const client = await running.database.pool.connect();
        const codes: Promise<string>[] = [];
        try {
          await client.query('BEGIN; LOCK TABLE ledger.charges, ledger.usage_days IN ACCESS EXCLUSIVE MODE');
          for (let read = 0; read < 110; read += 1)
            codes.push(
              history.page({ accountId }, page).then(
                () => 'answered',
                (error: Problem) => error.code,
              ),
            );
          await expect(accountWith(usd(1))).resolves.toBeDefined();
          // A hundred reads wait; any further one is rejected at once.
          const seen = new Set(await Promise.all(codes));
          expect([...seen].toSorted()).toEqual(['REQUEST_TIMEOUT', 'UNAVAILABLE']);
        } finally {
          await client.query('ROLLBACK');
          client.release();
        }
        await expect(history.page({ accountId }, page)).resolves.toEqual({ entries: [], total: 0 });
      });
    });
  });
}

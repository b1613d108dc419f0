import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { type Balances, totalNano, usdNumber } from '@svc/contracts/money';
import { type Caller, Ledger, type SpendingLimit, UsageHistory, limitTypeOf } from '@svc/contracts/ports';
import type { CatalogEntry } from '@svc/contracts/catalog';
import { LIMIT_TYPES } from '@svc/contracts/messages';
import type { RateLimits } from '@svc/api/limits';
import { tierName } from '@svc/identity/accounts';
import { nextEpochBegins, limitsOf } from '@svc/paid/limits';

type Row = RateLimits['data']['rateLimits'][number];

/** Shows the limits of a key: its requests, its tokens, and the money it can spend. */
@Injectable()
export class RateLimitsView {
  constructor(
    private readonly catalog: Catalog,
    private readonly ledger: Ledger,
    private readonly usage: UsageHistory,
  ) {}

  /** Refuses: UNAVAILABLE. */
  async of(caller: Caller): Promise<RateLimits> {
    const balances = await this.spendable(caller);
    return {
      data: {
        accessPermitted: totalNano(balances) > 0n,
        apiTier: { id: tierName(caller), isCharged: true },
        balances: { USD: usdNumber(balances.usdNano), DIEM: usdNumber(balances.diemNano) },
        keyExpiration: caller.expiresAt ?? null,
        nextEpochBegins: nextEpochBegins(),
        rateLimits: this.catalog.entries().map((entry) => this.row(caller, entry)),
      },
    };
  }

  /** The lowest limit of each type. */
  private row(caller: Caller, entry: CatalogEntry): Row {
    const limits = limitsOf(caller, entry, this.catalog).filter(({ scope }) => scope !== 'global');
    const rateLimits = LIMIT_TYPES.flatMap((type) => {
      const own = limits.filter((limit) => limitTypeOf(limit) === type).map(({ max }) => max);
      return own.length === 0 ? [] : [{ amount: Math.min(...own), type }];
    });
    return { apiModelId: entry.id, rateLimits };
  }

  /** What the account can spend within the limit of the key. */
  private async spendable({ accountId, keyId, keyLimit }: Caller): Promise<Balances> {
    const available = await this.ledger.available(accountId);
    if (!keyLimit) return available;
    const [spent] = await this.usage.keys(accountId, [keyId], keyLimit.period === 'HOUR' ? [keyId] : []);
    const gone = spent && spent[PERIODS[keyLimit.period]];
    const left = (most: bigint, limit: bigint | undefined, used = 0n): bigint => {
      if (limit === undefined) return most;
      const rest = limit > used ? limit - used : 0n;
      return rest < most ? rest : most;
    };
    return {
      usdNano: left(available.usdNano, keyLimit.usdNano, gone?.usdNano),
      diemNano: left(available.diemNano, keyLimit.diemNano, gone?.diemNano),
    };
  }
}

const PERIODS = {
  HOUR: 'hour',
  EPOCH: 'epoch',
  WEEK: 'week',
  MONTH: 'month',
  LIFETIME: 'lifetime',
} as const satisfies Record<SpendingLimit['period'], string>;

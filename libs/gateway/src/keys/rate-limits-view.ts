import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import {
  type AdmitRequest,
  type Balances,
  type Caller,
  type CatalogEntry,
  Ledger,
  type RateLimits,
  type SpendingLimit,
  UsageHistory,
  totalNano,
  usdNumber,
} from '@svc/contracts';
import { nextEpochBegins } from '../limits/epoch.js';
import { limitsOf, requestLimitsOf, tierName } from '../limits/limits-of.js';

type Row = RateLimits['data']['rateLimits'][number];

/** Shows the limits of a key: requests and tokens per minute, and the money it can spend. */
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

  private row(caller: Caller, entry: CatalogEntry): Row {
    const { user, api_key: key } = this.limitsOf(caller, entry);
    const amounts = [
      { amount: Math.min(user.requestsPerMinute, key?.requestsPerMinute ?? Infinity), type: 'RPM' },
      { amount: Math.min(user.tokensPerMinute, key?.tokensPerMinute ?? Infinity), type: 'TPM' },
    ] as const;
    return {
      apiModelId: entry.id,
      rateLimits: amounts.filter(({ amount }) => amount < Number.MAX_SAFE_INTEGER),
    };
  }

  private limitsOf(caller: Caller, entry: CatalogEntry): AdmitRequest['limits'] {
    if (entry.type !== 'text') return requestLimitsOf(caller, entry, this.catalog);
    const model = this.catalog.text.find(entry.id);
    if (!model) throw new RangeError(`the catalogue has no model ${entry.id}`);
    return limitsOf(caller, model, this.catalog);
  }

  /** What the account can spend within the limit of the key. */
  private async spendable({ accountId, keyId, keyLimit }: Caller): Promise<Balances> {
    const available = await this.ledger.available(accountId);
    if (!keyLimit) return available;
    const [spent] = await this.usage.keys(accountId, [keyId]);
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

const PERIODS = { EPOCH: 'epoch', MONTH: 'month', LIFETIME: 'lifetime' } as const satisfies Record<
  SpendingLimit['period'],
  string
>;

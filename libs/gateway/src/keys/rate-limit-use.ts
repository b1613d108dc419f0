import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import {
  type Caller,
  type Limit,
  Limiter,
  PEEKED_LIMITS,
  type ResourceLimit,
  type TakenLimit,
  limitTypeOf,
} from '@svc/contracts/ports';
import type { RateLimitUsage } from '@svc/api/limits';
import { limitsOf } from '@svc/paid/limits';

type ModelUse = RateLimitUsage['data']['models'][number];
type LimitUse = ModelUse['rateLimits'][number];

/** Shows what requests have taken of the limits of a key. */
@Injectable()
export class RateLimitUse {
  constructor(
    private readonly catalog: Catalog,
    private readonly limiter: Limiter,
  ) {}

  async of(caller: Caller): Promise<RateLimitUsage> {
    const limits = this.limitsOf(caller);
    const taken = await this.taken(caller, limits);
    if (!taken) return { data: { counted: false, models: [] } };
    const uses = limits.map(({ resource, limit }, at) => ({
      model: resource.name,
      use: useOf(limit, taken[at]),
    }));
    const models = Map.groupBy(uses, ({ model }) => model);
    const rows = Array.from(models, ([apiModelId, ofModel]): ModelUse => {
      const byType = Map.groupBy(ofModel, ({ use }) => use.type);
      const rateLimits = Array.from(byType.values(), (ofType) => tightest(ofType.map(({ use }) => use)));
      return { apiModelId, rateLimits };
    });
    return { data: { counted: true, models: rows } };
  }

  private limitsOf(caller: Caller): ResourceLimit[] {
    return this.catalog.entries().flatMap((entry) => {
      const resource = { kind: 'model', name: entry.id } as const;
      const own = limitsOf(caller, entry, this.catalog).filter(({ scope }) => scope !== 'global');
      return own.map((limit) => ({ resource, limit }));
    });
  }

  /** One call after the other, so that a large catalogue delays other calls of the limiter only briefly. */
  private async taken(
    { accountId, keyId }: Caller,
    all: readonly ResourceLimit[],
  ): Promise<readonly TakenLimit[] | undefined> {
    const taken: TakenLimit[] = [];
    for (let from = 0; from < all.length; from += PEEKED_LIMITS) {
      const peek = { accountId, keyId, limits: all.slice(from, from + PEEKED_LIMITS) };
      const { limits } = await this.limiter.peek(peek);
      if (!limits) return undefined;
      taken.push(...limits);
    }
    return taken;
  }
}

const useOf = (limit: Limit, { taken, resetAtMs }: TakenLimit = { taken: 0, resetAtMs: 0 }): LimitUse => ({
  type: limitTypeOf(limit),
  amount: limit.max,
  used: taken,
  resetsAt: new Date(resetAtMs).toISOString(),
});

const tightest = (uses: readonly LimitUse[]): LimitUse =>
  uses.reduce((least, use) => (use.amount - use.used < least.amount - least.used ? use : least));

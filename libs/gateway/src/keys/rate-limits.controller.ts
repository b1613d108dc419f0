import { Controller } from '@nestjs/common';
import type { Caller } from '@svc/contracts/ports';
import { LimitLog } from '@svc/contracts/messages';
import type { RateLimitLog, RateLimitUsage, RateLimits } from '@svc/api/limits';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { CallerOf } from '@svc/identity/auth';
import { RateLimitUse } from './rate-limit-use.js';
import { RateLimitsView } from './rate-limits-view.js';

/** Shows callers their limits, and the requests that were refused by them. */
@Controller()
export class RateLimitsController {
  constructor(
    private readonly view: RateLimitsView,
    private readonly use: RateLimitUse,
    private readonly log: LimitLog,
  ) {}

  @Serves(routes.rateLimits)
  limits(@CallerOf() caller: Caller): Promise<RateLimits> {
    return this.view.of(caller);
  }

  @Serves(routes.rateLimitUsage)
  usage(@CallerOf() caller: Caller): Promise<RateLimitUsage> {
    return this.use.of(caller);
  }

  @Serves(routes.rateLimitLogs)
  logs(@CallerOf() caller: Caller): Promise<RateLimitLog> {
    return this.latest(caller);
  }

  @Serves(routes.rateLimitLog)
  alias(@CallerOf() caller: Caller): Promise<RateLimitLog> {
    return this.latest(caller);
  }

  /** An INFERENCE key sees its own entries only. */
  private async latest({ accountId, keyId: ownId, keyType }: Caller): Promise<RateLimitLog> {
    const all = await this.log.latest(accountId);
    const entries = keyType === 'ADMIN' ? all : all.filter(({ keyId }) => keyId === ownId);
    const data = entries.map(({ keyId, model, route, tier, type, at }) => ({
      apiKeyId: keyId,
      modelId: route === undefined ? model : `endpoint:${route.slice(1)}`,
      rateLimitTier: tier,
      rateLimitType: type,
      timestamp: at,
    }));
    return { object: 'list', data };
  }
}

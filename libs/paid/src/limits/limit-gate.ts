import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import {
  type Admission,
  type AdmitRequest,
  type Amounts,
  type Caller,
  DAY_MS,
  LIMIT_UNITS,
  type Limit,
  type LimitRefusal,
  type LimitScope,
  type LimitedResource,
  MINUTE_MS,
  limitTypeOf,
} from '@svc/contracts/ports';
import type { LimitLogType } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { limits as metrics } from '@svc/telemetry';
import type { Catalog } from '@svc/catalog';
import type { CatalogEntry } from '@svc/contracts/catalog';
import { GatewaySettings } from '../gateway.config.js';
import { blockedProblem, FailureBlocks, keySubject, LimitReports } from '@svc/identity/failures';

/**
 * The limits that apply to a caller and a model: those of the catalogue, the operator and the key. Lines of
 * batches have those of days only, since a bound of their own says how many run at once.
 */
export function limitsOf(caller: Caller, model: CatalogEntry, catalog: Catalog): Limit[] {
  const { accountLimits, limits = [], tier, inBatch } = caller;
  let own = catalog.accountLimits(model, tier);
  if (accountLimits) {
    own = replaced(own, accountLimits.find((limit) => limit.model === undefined)?.limits);
    own = replaced(own, accountLimits.find((limit) => limit.model === model.id)?.limits);
  }
  if (inBatch) return [...own, ...limits].filter(({ windowMs }) => windowMs >= DAY_MS);
  return [...own, ...limits, ...catalog.globalLimits(model)];
}

/** Limits with others in place of those of the same unit and window. */
function replaced(limits: Limit[], by: readonly Limit[] = []): Limit[] {
  const isReplaced = ({ unit, windowMs }: Limit): boolean =>
    by.some((limit) => limit.unit === unit && limit.windowMs === windowMs);
  return [...by, ...limits.filter((limit) => !isReplaced(limit))];
}

/** Another request has to end first, and when that happens is unknown. */
const CONCURRENT_RETRY_SECONDS = 1;

const WHOSE: Readonly<Record<LimitScope, string>> = {
  user: 'for your account',
  api_key: 'for this API key',
  end_user: 'for this end user',
  global: 'for all together',
};

/** Builds requests to the limiter and turns its refusals into error responses. */
@Injectable()
export class LimitGate {
  constructor(
    private readonly blocks: FailureBlocks,
    private readonly reports: LimitReports,
    private readonly settings: GatewaySettings,
  ) {}

  /**
   * The request for what a caller wants to use: one request and these amounts. Refuses:
   * TOO_MANY_TOKENS_PER_MINUTE, when it exceeds the limit of a whole window.
   */
  request({ requestId, caller }: LimitEntrant, sale: LimitedSale, amounts: Amounts): AdmitRequest {
    const { accountId, keyId, endUser, userLimits } = caller;
    const { resource, limits: own } = sale;
    const limits = userLimits ? [...own, ...userLimits] : own;
    for (const limit of limits) if (limit.unit === 'tokens') refuseExcess(limit, amounts.tokens);
    const concurrent = caller.inBatch
      ? 0
      : (caller.concurrent ?? this.settings.config.GATEWAY_ACCOUNT_CONCURRENCY);
    return {
      requestId,
      accountId,
      keyId,
      endUser,
      resource,
      subject: keySubject(caller),
      limits,
      amounts: { requests: 1, ...amounts },
      concurrent: concurrent > 0 ? concurrent : undefined,
    };
  }

  /** Whether amounts exceed the limit of a whole window. */
  isExcess(limits: readonly Limit[], { tokens = 0 }: Amounts): boolean {
    return limits.some(({ unit, max }) => unit === 'tokens' && tokens > max);
  }

  /** Logs a refusal and returns the error for the client. */
  refusal(caller: Caller, request: AdmitRequest, admission: Admission): Problem {
    const { refusedBy, blockedForMs = 0 } = admission;
    assert(refusedBy, 'an admission without a refusal');
    const { requestId, resource } = request;
    const type = logTypeOf(refusedBy);
    metrics.refusals.add(1, type);
    this.reports.add({ requestId, caller, resource, type });
    switch (refusedBy.of) {
      case 'failures':
        return blockedProblem(this.blocks.cache(keySubject(caller), { forMs: blockedForMs }));
      case 'concurrent':
        return new Problem('RATE_LIMIT_EXCEEDED', {
          message: 'Too many concurrent requests',
          retryAfterSeconds: CONCURRENT_RETRY_SECONDS,
        });
      case 'limit': {
        const { scope } = refusedBy.limit;
        const seconds = secondsUntil(refusedBy.resetAtMs);
        return new Problem('RATE_LIMIT_EXCEEDED', {
          message: `Rate limit exceeded: ${quotaOf(refusedBy.limit)} ${WHOSE[scope]}${scope === 'end_user' ? '' : `, for ${resource.name}`}. Try again in ${seconds} s.`,
          retryAfterSeconds: seconds,
        });
      }
    }
  }
}

/** An admission after its request has been released. */
export function withReturned(admission: Admission, { amounts }: AdmitRequest): Admission {
  const tightest = { ...admission.tightest };
  for (const unit of LIMIT_UNITS) {
    const state = tightest[unit];
    if (state) tightest[unit] = { ...state, remaining: state.remaining + (amounts[unit] ?? 0) };
  }
  return { ...admission, tightest };
}

function logTypeOf(refusedBy: LimitRefusal): LimitLogType {
  if (refusedBy.of === 'limit') return limitTypeOf(refusedBy.limit);
  return refusedBy.of === 'concurrent' ? 'CONCURRENT' : 'FAILED_REQUESTS';
}

function refuseExcess(limit: Limit, tokens = 0): void {
  if (tokens <= limit.max) return;
  throw new Problem('TOO_MANY_TOKENS_PER_MINUTE', {
    message: `Your request may take ${tokens} tokens, more than your limit of ${quotaOf(limit)}. Please reduce your prompt or max_tokens.`,
    param: 'max_tokens',
  });
}

const PERIODS: ReadonlyMap<number, string> = new Map([
  [MINUTE_MS, 'minute'],
  [DAY_MS, 'day'],
]);

/** A limit as text, such as `20 requests per minute`. */
function quotaOf({ max, unit, windowMs }: Limit): string {
  return `${max} ${unit} per ${PERIODS.get(windowMs) ?? `${windowMs / 1_000} s`}`;
}

/** Seconds until a Unix time in milliseconds, at least one, for `Retry-After`. */
function secondsUntil(untilMs: number): number {
  return Math.max(1, Math.ceil((untilMs - Date.now()) / 1_000));
}

/** A request to be limited. */
interface LimitEntrant {
  readonly requestId: string;
  readonly caller: Caller;
}

/** What is limited. */
interface LimitedSale {
  readonly resource: LimitedResource;
  readonly limits: readonly Limit[];
}

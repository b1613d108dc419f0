import { Injectable } from '@nestjs/common';
import {
  type Admission,
  type AdmitRequest,
  type Caller,
  type LimitLogType,
  type LimitRefusal,
  Problem,
} from '@svc/contracts';
import { limits } from '@svc/telemetry';
import { GatewaySettings } from '../gateway.config.js';
import { FailureBlocks, blockedProblem, keySubject } from './failure-blocks.js';
import { LimitReports } from './limit-reports.js';

/** Another request has to end first, and when that happens is unknown. */
const CONCURRENT_RETRY_SECONDS = 1;

const LOGGED_AS: Readonly<Record<LimitRefusal['of'], LimitLogType>> = {
  requests: 'RPM',
  tokens: 'TPM',
  concurrent: 'CONCURRENT',
  failures: 'FAILED_REQUESTS',
};

const WHOSE: Readonly<Record<LimitRefusal['type'], string>> = {
  user: 'for your account',
  api_key: 'for this API key',
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

  /** Refuses: TOO_MANY_TOKENS_PER_MINUTE, when the request exceeds the limit of a whole minute. */
  request({ requestId, caller, plan }: LimitEntrant, tokens: number): AdmitRequest {
    const { accountId, keyId } = caller;
    const most = Math.min(
      ...Object.values(plan.limits).map(({ tokensPerMinute = Number.POSITIVE_INFINITY }) => tokensPerMinute),
    );
    if (tokens > most) {
      throw new Problem('TOO_MANY_TOKENS_PER_MINUTE', {
        message: `Your request may take ${tokens} tokens, more than your limit of ${most} tokens per minute. Please reduce your prompt or max_tokens.`,
        param: 'max_tokens',
      });
    }
    const concurrent = caller.concurrent ?? this.settings.config.GATEWAY_ACCOUNT_CONCURRENCY;
    return {
      requestId,
      accountId,
      keyId,
      model: plan.model.id,
      subject: keySubject(keyId),
      limits: plan.limits,
      tokens,
      ...(concurrent > 0 && { concurrent }),
    };
  }

  /** Logs a refusal and returns the error for the client. */
  refusal({ requestId, caller, model }: Refused, admission: Admission): Problem {
    const { refusedBy, resetAtMs, blockedForMs = 0 } = admission;
    const of = refusedBy?.of ?? 'requests';
    limits.refusals.add(1, LOGGED_AS[of]);
    this.reports.add({ requestId, caller, model, type: LOGGED_AS[of] });
    if (of === 'failures')
      return blockedProblem(this.blocks.cache(keySubject(caller.keyId), { forMs: blockedForMs }));
    if (of === 'concurrent') {
      return new Problem('RATE_LIMIT_EXCEEDED', {
        message: 'Too many concurrent requests',
        retryAfterSeconds: CONCURRENT_RETRY_SECONDS,
      });
    }
    const seconds = secondsUntil(resetAtMs);
    const { limit } = admission[of];
    const whose = WHOSE[refusedBy?.type ?? 'user'];
    return new Problem('RATE_LIMIT_EXCEEDED', {
      message: `Rate limit exceeded: ${limit} ${of} per minute ${whose}, for ${model}. Try again in ${seconds} s.`,
      retryAfterSeconds: seconds,
    });
  }
}

/** Seconds until a Unix time in milliseconds, at least one, for `Retry-After`. */
function secondsUntil(untilMs: number): number {
  return Math.max(1, Math.ceil((untilMs - Date.now()) / 1_000));
}

/** A refused request. Its model is a model's id, or `endpoint:` and a path. */
interface Refused {
  readonly requestId: string;
  readonly caller: Caller;
  readonly model: string;
}

interface LimitEntrant {
  readonly requestId: string;
  readonly caller: Caller;
  readonly plan: { readonly model: { readonly id: string }; readonly limits: AdmitRequest['limits'] };
}

import type { ServerResponse } from 'node:http';
import { type Admission, type Balances, formatUsd } from '@svc/contracts';
import type { Model } from '@svc/runtime';
import type { DeprecationNotice } from '../models/model-lookup.js';

export const BALANCE_HEADERS = { usd: 'x-svc-balance-usd', diem: 'x-svc-balance-diem' } as const;

/** Headers of an answer, set as soon as what they say is known, so that a refusal carries them as well. */
export class AnswerHeaders {
  constructor(private readonly response: ServerResponse) {}

  model(model: Model, deprecation?: DeprecationNotice): void {
    this.set('x-svc-model-id', model.id);
    this.set('x-svc-model-name', headerSafe(model.name));
    if (!deprecation) return;
    this.set('x-svc-model-deprecation-warning', headerSafe(deprecation.warning));
    this.set('x-svc-model-deprecation-date', deprecation.date);
    this.set('x-svc-deprecated', 'true');
    if (deprecation.replacement !== undefined)
      this.set('x-svc-deprecated-replacement', deprecation.replacement);
  }

  backend(name: string | undefined): void {
    if (name !== undefined) this.set('x-svc-model-router', name);
  }

  limits(limits: Admission): void {
    const { requests, tokens, resetAtMs } = limits;
    this.set('x-ratelimit-limit-requests', requests.limit);
    this.set('x-ratelimit-remaining-requests', requests.remaining);
    this.set('x-ratelimit-reset-requests', Math.ceil(resetAtMs / 1_000));
    this.set('x-ratelimit-limit-tokens', tokens.limit);
    this.set('x-ratelimit-remaining-tokens', tokens.remaining);
    this.set('x-ratelimit-reset-tokens', Math.max(0, Math.ceil((resetAtMs - Date.now()) / 1_000)));
    this.set('x-ratelimit-type', limits.type);
  }

  /** What the account could spend before the request. */
  balances(before: Balances): void {
    this.set(BALANCE_HEADERS.usd, formatUsd(before.usdNano));
    this.set(BALANCE_HEADERS.diem, formatUsd(before.diemNano));
  }

  private set(name: string, value: string | number): void {
    // An answer that has begun keeps the headers it has.
    if (!this.response.headersSent) this.response.setHeader(name, value);
  }
}

/** A header takes visible ASCII only. */
function headerSafe(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

import type { Admission, Caller } from '@svc/contracts/ports';
import { type Balances, formatUsd } from '@svc/contracts/money';
import type { CatalogEntry } from '@svc/contracts/catalog';
import type { DeprecationNotice } from '../models/model-lookup.js';

/** Response headers by lower-case name. They are collected during a request and written once. */
export type HeaderValues = Record<string, string | number>;

export const USD_BALANCE_HEADER = 'x-svc-balance-usd';

/** Headers about the model and its deprecation. */
export function modelHeaders(
  model: Pick<CatalogEntry, 'id' | 'name'>,
  deprecation: DeprecationNotice | undefined,
): HeaderValues {
  return {
    'x-svc-model-id': model.id,
    'x-svc-model-name': visibleAscii(model.name),
    ...(deprecation && {
      'x-svc-model-deprecation-warning': visibleAscii(deprecation.warning),
      'x-svc-model-deprecation-date': deprecation.date,
      'x-svc-deprecated': 'true',
      ...(deprecation.replacement !== undefined && {
        'x-svc-deprecated-replacement': deprecation.replacement,
      }),
    }),
  };
}

/** Headers about the backend that served a model, if one did, and the calls that failed before. */
export const servedBy = (backend: string, retries = 0): HeaderValues => ({
  ...(backend !== '' && { 'x-svc-model-router': backend }),
  ...(retries > 0 && { 'x-retry-count': retries }),
});

/** Headers about the limits. For a caller blocked for its failures, the reset is the end of the block. */
export function limitHeaders({ tightest, scope, blockedForMs }: Admission): HeaderValues {
  const { requests, tokens } = tightest;
  const headers: HeaderValues = {};
  if (requests) {
    const resetAtMs = blockedForMs === undefined ? requests.resetAtMs : Date.now() + blockedForMs;
    headers['x-ratelimit-limit-requests'] = requests.limit;
    headers['x-ratelimit-remaining-requests'] = requests.remaining;
    headers['x-ratelimit-reset-requests'] = Math.ceil(resetAtMs / 1_000);
  }
  if (tokens) {
    headers['x-ratelimit-limit-tokens'] = tokens.limit;
    headers['x-ratelimit-remaining-tokens'] = tokens.remaining;
    headers['x-ratelimit-reset-tokens'] = Math.max(0, Math.ceil((tokens.resetAtMs - Date.now()) / 1_000));
  }
  headers['x-ratelimit-type'] = scope;
  return headers;
}

/** Adds the account's balance before the request. */
export function addBalance(headers: HeaderValues, { usdNano, diemNano }: Balances): void {
  headers[USD_BALANCE_HEADER] = formatUsd(usdNano);
  headers['x-svc-balance-diem'] = formatUsd(diemNano);
}

/** A wallet's balance after a request that takes this amount; no header for keys. */
export function walletHeaders({ wallet }: Caller, before: Balances, taken: Balances): HeaderValues {
  if (wallet === undefined) return NO_HEADERS;
  return { 'x-balance-remaining': formatUsd(before.usdNano - taken.usdNano) };
}

const NO_HEADERS: HeaderValues = Object.freeze({});

/** Replaces everything except visible ASCII, which is all that a header may contain. */
function visibleAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

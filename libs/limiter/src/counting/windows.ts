import type {
  Admission,
  AdmitRequest,
  LimitRefusal,
  LimitState,
  LimitType,
  MinuteLimits,
} from '@svc/contracts';

/** A window that a request counts in, and its limits; `Infinity` for no limit. */
export interface WindowLimit {
  readonly type: LimitType;
  /** The unique key of the window. An account's windows share the tag `{account}`. */
  readonly key: string;
  readonly requests: number;
  readonly tokens: number;
}

/** The counts of a window. */
export interface WindowCount {
  requests: number;
  tokens: number;
}

/** A window with its limit, the part of the limit available here, and its counts. */
export interface CountedWindow {
  readonly limit: WindowLimit;
  readonly room: Readonly<WindowCount>;
  readonly count: Readonly<WindowCount>;
}

/** The windows of a request, in the order of checking: account and model, key and model, model. */
export function windowLimits({ accountId, keyId, model, limits }: AdmitRequest): WindowLimit[] {
  const windows = [windowLimit('user', `{${accountId}}:user:${model}`, limits.user)];
  if (limits.api_key)
    windows.push(windowLimit('api_key', `{${accountId}}:key:${keyId}:${model}`, limits.api_key));
  if (limits.global) windows.push(windowLimit('global', `{global:${model}}`, limits.global));
  return windows;
}

function windowLimit(type: LimitType, key: string, limits: MinuteLimits): WindowLimit {
  return {
    type,
    key,
    requests: limits.requestsPerMinute ?? Infinity,
    tokens: limits.tokensPerMinute ?? Infinity,
  };
}

/** The first limit without room for a request of this many tokens. */
export function refusalOf(windows: readonly CountedWindow[], tokens: number): LimitRefusal | undefined {
  for (const { limit, room, count } of windows) {
    if (count.requests + 1 > room.requests) return { type: limit.type, of: 'requests' };
    if (count.tokens + tokens > room.tokens) return { type: limit.type, of: 'tokens' };
  }
  return undefined;
}

export const CONCURRENCY_REFUSAL: LimitRefusal = { type: 'user', of: 'concurrent' };

export const FAILURES_REFUSAL: LimitRefusal = { type: 'user', of: 'failures' };

/** The outcome of a request beyond its windows. */
export interface Verdict {
  readonly refusedBy: LimitRefusal | undefined;
  /** Remaining block of its caller in ms; 0 if it is not blocked. */
  readonly blockedForMs: number;
  readonly resetAtMs: number;
}

/** The result of a request. `windows` are the counts after it. */
export function admissionOf(
  windows: readonly CountedWindow[],
  { refusedBy, blockedForMs, resetAtMs }: Verdict,
): Admission {
  let requests: LimitState = { limit: 0, remaining: Infinity };
  let tokens: LimitState = requests;
  let type: LimitType = 'user';
  let least = Infinity;
  for (const window of windows) {
    const requestsLeft = Math.max(0, window.room.requests - window.count.requests);
    const tokensLeft = Math.max(0, window.room.tokens - window.count.tokens);
    if (requestsLeft < requests.remaining)
      requests = { limit: window.limit.requests, remaining: requestsLeft };
    if (tokensLeft < tokens.remaining) tokens = { limit: window.limit.tokens, remaining: tokensLeft };
    const share = Math.min(
      shareOf(requestsLeft, window.limit.requests),
      shareOf(tokensLeft, window.limit.tokens),
    );
    if (share < least) {
      least = share;
      type = window.limit.type;
    }
  }
  const block = blockedForMs > 0 ? { blockedForMs } : {};
  return refusedBy
    ? { admitted: false, refusedBy, requests, tokens, resetAtMs, type: refusedBy.type, ...block }
    : { admitted: true, requests, tokens, resetAtMs, type };
}

/** The fraction of a limit that is left, from 0 to 1; 1 if there is no limit. */
function shareOf(left: number, limit: number): number {
  if (limit === Infinity) return 1;
  return limit === 0 ? 0 : left / limit;
}

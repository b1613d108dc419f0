import {
  type Admission,
  type AdmitRequest,
  type Amounts,
  LIMIT_UNITS,
  type Limit,
  type LimitRefusal,
  type LimitScope,
  type LimitState,
  type LimitUnit,
} from '@svc/contracts/ports';

/** A window that a request counts in, with the limits that share it. */
export interface LimitedWindow {
  /** The unique key of the window. An account's windows share the tag `{account}`. */
  readonly key: string;
  readonly windowMs: number;
  readonly limits: readonly Limit[];
}

/** The counts of a window. It counts every unit that its requests take, whether that is limited or not. */
export type WindowCounts = { [Unit in LimitUnit]: number };

export const NO_COUNTS = Object.fromEntries(LIMIT_UNITS.map((unit) => [unit, 0])) as Readonly<WindowCounts>;

export const noCounts = (): WindowCounts => ({ ...NO_COUNTS });

/** A window with its counts. */
export interface CountedWindow {
  readonly window: LimitedWindow;
  readonly counts: Readonly<WindowCounts>;
  readonly endsAtMs: number;
}

/** The part of a limit that is given out here. */
export type Room = (limit: Limit) => number;

export const WHOLE: Room = ({ max }) => max;

/** What the keys of a request's windows consist of. */
type WindowOwner = Pick<AdmitRequest, 'accountId' | 'keyId' | 'endUser' | 'resource'>;

interface KnownWindows {
  readonly owner: WindowOwner;
  readonly windows: readonly LimitedWindow[];
}

/** By a list of limits, which a caller keeps for all its requests of a model. */
const known = new WeakMap<readonly Limit[], KnownWindows>();

/** The windows of a request, in the order of its limits, which is that of checking. */
export function windowsOf(request: AdmitRequest): readonly LimitedWindow[] {
  const { accountId, keyId, endUser, resource, limits } = request;
  const earlier = known.get(limits);
  if (earlier && isSameOwner(earlier.owner, request)) return earlier.windows;
  const windows = newWindows(request);
  known.set(limits, { owner: { accountId, keyId, endUser, resource }, windows });
  return windows;
}

function isSameOwner(a: WindowOwner, b: WindowOwner): boolean {
  const isSame = a.accountId === b.accountId && a.keyId === b.keyId && a.endUser === b.endUser;
  return isSame && a.resource.kind === b.resource.kind && a.resource.name === b.resource.name;
}

function newWindows(request: AdmitRequest): readonly LimitedWindow[] {
  const windows: { key: string; windowMs: number; scope: LimitScope; limits: Limit[] }[] = [];
  next: for (const limit of request.limits) {
    for (const window of windows)
      if (window.scope === limit.scope && window.windowMs === limit.windowMs) {
        window.limits.push(limit);
        continue next;
      }
    const { scope, windowMs } = limit;
    windows.push({ key: windowKey(limit, request), windowMs, scope, limits: [limit] });
  }
  return windows;
}

/** The key of the window of a limit. */
export function windowKey(
  { scope, windowMs }: Limit,
  { accountId, keyId, endUser, resource }: WindowOwner,
): string {
  const what = `${windowMs}:${resource.kind}:${resource.name}`;
  switch (scope) {
    case 'user':
      return `{${accountId}}:user:${what}`;
    case 'api_key':
      return `{${accountId}}:key:${keyId}:${what}`;
    case 'end_user':
      return `{${accountId}}:${endUser ?? ''}:${windowMs}`;
    case 'global':
      return `{global}:${what}`;
  }
}

/** The first limit without room for these amounts. */
export function refusalOf(
  windows: readonly CountedWindow[],
  amounts: Amounts,
  room: Room,
): LimitRefusal | undefined {
  for (const { window, counts, endsAtMs } of windows)
    for (const limit of window.limits)
      if (counts[limit.unit] + (amounts[limit.unit] ?? 0) > room(limit))
        return { of: 'limit', limit, resetAtMs: endsAtMs };
  return undefined;
}

/** The outcome of a request beyond its windows. */
export interface Verdict {
  readonly refusedBy: LimitRefusal | undefined;
  /** Whether the refusal may pass, as other requests may give back what they took. */
  readonly isProvisional: boolean;
  /** Remaining block of its caller in ms; 0 if it is not blocked. */
  readonly blockedForMs: number;
}

const endOf = ({ endsAtMs }: CountedWindow): number => endsAtMs;

/** The result of a request. `windows` have the counts after it. */
export function admissionOf(
  windows: readonly CountedWindow[],
  { refusedBy, isProvisional, blockedForMs }: Verdict,
  room: Room,
): Admission {
  const tightest: { [Unit in LimitUnit]?: LimitState } = {};
  let scope: LimitScope = 'user';
  let least = Infinity;
  for (const { window, counts, endsAtMs: resetAtMs } of windows) {
    for (const limit of window.limits) {
      const { unit, max } = limit;
      const remaining = Math.max(0, room(limit) - counts[unit]);
      if (remaining < (tightest[unit]?.remaining ?? Infinity))
        tightest[unit] = { limit: max, remaining, resetAtMs };
      const share = max === 0 ? 0 : remaining / max;
      if (share >= least) continue;
      least = share;
      scope = limit.scope;
    }
  }
  const endsAtMs = windows.map(endOf);
  if (!refusedBy) return { admitted: true, tightest, endsAtMs, scope };
  return {
    admitted: false,
    refusedBy,
    tightest,
    endsAtMs,
    scope: refusedBy.of === 'limit' ? refusedBy.limit.scope : 'user',
    ...(isProvisional && { isProvisional }),
    ...(blockedForMs > 0 && { blockedForMs }),
  };
}

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

/**
 * The first limit without room for these amounts. Loops by index, as `admissionOf` does: every request runs
 * them, and they make no iterators.
 */
export function refusalOf(
  windows: readonly CountedWindow[],
  amounts: Amounts,
  room: Room,
): LimitRefusal | undefined {
  for (let at = 0; at < windows.length; at += 1) {
    const { window, counts, endsAtMs } = windows[at] as CountedWindow;
    for (let index = 0; index < window.limits.length; index += 1) {
      const limit = window.limits[index] as Limit;
      if (counts[limit.unit] + (amounts[limit.unit] ?? 0) > room(limit))
        return { of: 'limit', limit, resetAtMs: endsAtMs };
    }
  }
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
  for (let at = 0; at < windows.length; at += 1) {
    const { window, counts, endsAtMs: resetAtMs } = windows[at] as CountedWindow;
    for (let index = 0; index < window.limits.length; index += 1) {
      const limit = window.limits[index] as Limit;
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

/** Windows remembered at most, and lengths of windows. Requests beyond that are counted in none. */
const MAX_WINDOWS = 1_000_000;
const MAX_LENGTHS = 100;

/** The counts of a window, and when a request last took of them, on a monotonic clock. */
type TimedCounts = WindowCounts & { takenAtMs: number };

export interface OpenWindow extends CountedWindow {
  readonly counts: TimedCounts;
}

/** All windows of one length end together. */
interface Generation {
  endsAtMs: number;
  /** By the key of the window. */
  readonly open: Map<string, OpenWindow>;
}

/** The counts of the windows that have not ended. */
export class OpenWindows {
  private readonly generations = new Map<number, Generation>();

  /** The windows that a request counts in. */
  openAll(windows: readonly LimitedWindow[], nowMs: number): readonly OpenWindow[] {
    // Of the exact size: it is kept as long as the request runs.
    const opened = Array<OpenWindow>(windows.length);
    for (let at = 0; at < windows.length; at += 1)
      opened[at] = this.open(windows[at] as LimitedWindow, nowMs);
    return opened;
  }

  private open(window: LimitedWindow, nowMs: number): OpenWindow {
    const { endsAtMs, open } = this.generation(window.windowMs, nowMs);
    const known = open.get(window.key);
    // Another request may count in the same window with other limits.
    if (known?.window === window) return known;
    const counts = known?.counts ?? { ...noCounts(), takenAtMs: -Infinity };
    const opened = { window, counts, endsAtMs };
    if (known || open.size < MAX_WINDOWS) open.set(window.key, opened);
    return opened;
  }

  /** The counts of a window by its key and length, without remembering it. */
  read(key: string, windowMs: number, nowMs: number): Pick<CountedWindow, 'counts' | 'endsAtMs'> {
    const { endsAtMs, open } = this.generation(windowMs, nowMs);
    return { counts: open.get(key)?.counts ?? noCounts(), endsAtMs };
  }

  private generation(windowMs: number, nowMs: number): Generation {
    let generation = this.generations.get(windowMs);
    if (!generation) {
      generation = { endsAtMs: 0, open: new Map() };
      if (this.generations.size < MAX_LENGTHS) this.generations.set(windowMs, generation);
    }
    const { endsAtMs, open } = generation;
    // If the clock was set back a little, the current windows stay open.
    if (nowMs < endsAtMs && nowMs >= endsAtMs - 2 * windowMs) return generation;
    open.clear();
    generation.endsAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
    return generation;
  }
}

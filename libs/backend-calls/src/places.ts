import type { Candidate } from './call-mode.js';

/** A backend to call, with a slot reserved for the call. */
export interface Place<To> {
  readonly to: To;
  /** Call once, when the call has ended. */
  readonly giveBack: () => void;
}

export interface PlaceRequest {
  /** The account whose share of a full backend is used. */
  readonly accountId: string;
  /** How long to wait for a slot, for all backends together. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Yields each backend once, with a slot: first those with a free one in order, then the full ones as slots
 * become free. Ends when none becomes free in time. Every yielded slot must be given back.
 */
export async function* places<To extends Candidate>(
  candidates: readonly To[],
  request: PlaceRequest,
): AsyncGenerator<Place<To>, void, void> {
  const full = new Set<To>();
  for (const to of candidates) {
    const giveBack = to.live.take(request.accountId);
    if (giveBack) yield { to, giveBack };
    else full.add(to);
  }
  const endMs = performance.now() + request.waitMs;
  while (full.size > 0) {
    const place = await firstPlace(full, { ...request, waitMs: endMs - performance.now() });
    if (!place) return;
    full.delete(place.to);
    yield place;
  }
}

/** Waits at all of them at once. */
function firstPlace<To extends Candidate>(
  full: ReadonlySet<To>,
  { accountId, waitMs, signal }: PlaceRequest,
): Promise<Place<To> | undefined> {
  const { promise, resolve } = Promise.withResolvers<Place<To> | undefined>();
  const leave: (() => void)[] = [];
  let queued = full.size;
  let isOver = false;
  const end = (place?: Place<To>): void => {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    for (const each of leave) each();
    resolve(place);
  };
  const onAbort = (): void => end();
  const timer = setTimeout(end, Math.max(0, waitMs));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) end();
  for (const to of full) {
    if (isOver) break;
    // A slot may have become free while another backend was called.
    const giveBack = to.live.take(accountId);
    if (giveBack) {
      end({ to, giveBack });
      break;
    }
    leave.push(
      to.live.join({
        accountId,
        grant: (given) => end({ to, giveBack: given }),
        refuse: () => {
          queued -= 1;
          if (queued === 0) end();
        },
      }),
    );
  }
  return promise;
}

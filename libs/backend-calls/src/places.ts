import type { GiveBack } from './backend-load.js';
import type { Candidate } from './call-mode.js';
import type { Sharer } from './sharing/token-queue.js';

/** A backend to call, with a slot reserved for the call. */
export interface Place<To> {
  readonly to: To;
  readonly giveBack: GiveBack;
  /** Whether other calls were waiting there. */
  readonly isShared: boolean;
}

export interface PlaceRequest extends Sharer {
  /** How long to wait for a slot, for all backends together. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * The backends of a call, each once: first those with a free slot in order, then the full ones as slots
 * become free. Every slot must be given back.
 */
export class Places<To extends Candidate> {
  private at = 0;
  /** Those without a free slot; most calls meet none. */
  private full: Set<To> | undefined;
  /** Set when the first wait begins. */
  private endMs: number | undefined;

  constructor(
    private readonly candidates: readonly To[],
    private readonly request: PlaceRequest,
  ) {}

  /** The next one, without a promise if its slot is free; undefined if none becomes free in time. */
  next(): Place<To> | undefined | Promise<Place<To> | undefined> {
    const { candidates, request } = this;
    while (this.at < candidates.length) {
      const to = candidates[this.at] as To;
      this.at += 1;
      // One that does not respond is no relief for those that do.
      if (to.live.health.isDown && this.full) continue;
      const isShared = to.live.load.waitingCalls > 0;
      const giveBack = to.live.take(request);
      if (giveBack) return { to, giveBack, isShared };
      (this.full ??= new Set()).add(to);
    }
    return this.full && this.full.size > 0 ? this.whenFree(this.full) : undefined;
  }

  private async whenFree(full: Set<To>): Promise<Place<To> | undefined> {
    const { request } = this;
    this.endMs ??= performance.now() + request.waitMs;
    const place = await firstPlace(full, { ...request, waitMs: this.endMs - performance.now() });
    if (place) full.delete(place.to);
    return place;
  }
}

/** Waits at all of them at once. */
function firstPlace<To extends Candidate>(
  full: ReadonlySet<To>,
  { waitMs, signal, ...sharer }: PlaceRequest,
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
    const giveBack = to.live.take(sharer);
    if (giveBack) {
      end({ to, giveBack, isShared: true });
      break;
    }
    leave.push(
      to.live.join({
        ...sharer,
        grant: (given) => end({ to, giveBack: given, isShared: true }),
        refuse: () => {
          queued -= 1;
          if (queued === 0) end();
        },
      }),
    );
  }
  return promise;
}

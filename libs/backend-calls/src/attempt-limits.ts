import type { LiveBackend } from './backend-pool.js';
import type { Refusal } from './backend-refusal.js';
import type { CallMode } from './call-mode.js';

/** The attempt that is about to begin. */
interface NextAttempt {
  /** What the deadline of all attempts leaves. */
  readonly leftMs: number;
  /** Whether no other backend is left. */
  readonly isLast: boolean;
}

/**
 * How long each attempt of a call may take. A stream leaves its first backend if that does not begin in time
 * and there is another one. It does so once: where all backends are slow, the second one has the rest of the
 * time.
 */
export class AttemptLimits {
  private hasLeft = false;

  constructor(
    private readonly mode: Pick<CallMode<never>, 'attemptMs' | 'isStream'>,
    private readonly firstMs: number,
  ) {}

  of({ backend }: LiveBackend, { leftMs, isLast }: NextAttempt): number {
    const { attemptMs = Infinity, isStream } = this.mode;
    const limitMs = isStream && !isLast && !this.hasLeft ? (backend.beginMs ?? this.firstMs) : Infinity;
    return Math.min(attemptMs, leftMs, limitMs);
  }

  /**
   * The refusal of an attempt that took too long. One that was cut while time was left may have been long
   * because of its request, and so concerns its account alone.
   */
  cut(refusal: Refusal, hasTime: boolean): Refusal {
    this.hasLeft = true;
    return hasTime && this.mode.isStream ? { ...refusal, cooldown: 'account' } : refusal;
  }
}

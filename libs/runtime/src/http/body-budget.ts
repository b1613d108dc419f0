import { PassingMap } from '../passing.js';

/** Limits on the size and speed of request bodies being received. */
export interface BodyBounds {
  /** Bytes of bodies being received, and of those kept until their responses, for all callers together. */
  readonly totalBytes: number;
  /** The same for one caller. */
  readonly callerBytes: number;
  /** A body may take this long, plus a second for each `bytesPerSecond` received. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
  /** The bytes that a client may still send after its request was rejected; they are discarded. */
  readonly discardBytes: number;
}

/** A body of 35 MB may take 282 s; a caller may send three of them at once. */
export const BODY_BOUNDS: BodyBounds = {
  totalBytes: 536_870_912,
  callerBytes: 134_217_728,
  graceMs: 15_000,
  bytesPerSecond: 131_072,
  discardBytes: 67_108_864,
};

/** Counts the bytes of bodies, in total and for each caller. */
export class BodyBudget {
  private total = 0;
  private readonly ofCaller = new PassingMap<string, number>();

  constructor(private readonly bounds: BodyBounds) {}

  /** The limit that this number of further bytes would exceed, if any. */
  exceededBy(caller: string | undefined, bytes: number): 'total' | 'caller' | undefined {
    if (this.total + bytes > this.bounds.totalBytes) return 'total';
    if (caller === undefined) return undefined;
    return (this.ofCaller.get(caller) ?? 0) + bytes > this.bounds.callerBytes ? 'caller' : undefined;
  }

  add(caller: string | undefined, bytes: number): void {
    this.total += bytes;
    if (caller === undefined) return;
    const left = (this.ofCaller.get(caller) ?? 0) + bytes;
    if (left === 0) this.ofCaller.delete(caller);
    else this.ofCaller.set(caller, left);
  }

  get heldBytes(): number {
    return this.total;
  }
}

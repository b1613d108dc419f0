/** What all that is being received may come to, and how quickly it has to come. */
export interface BodyBounds {
  /** Bytes of bodies that are being received, of all callers together. */
  readonly totalBytes: number;
  /** The same of one caller. */
  readonly callerBytes: number;
  /** A body may take this long, and beyond that a second for each `bytesPerSecond` of it that came. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
  /** The bytes that a client may still send after its request was refused, to be thrown away. */
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

/** Counts the bytes that are being received, of all and of each caller. */
export class BodyBudget {
  private total = 0;
  private readonly ofCaller = new Map<string, number>();

  constructor(private readonly bounds: BodyBounds) {}

  /** Whose bound so many bytes more would exceed, if any. */
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

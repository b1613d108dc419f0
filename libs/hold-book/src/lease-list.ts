/** An item of a `LeaseList`. The list owns these fields. */
export interface Leased {
  /** When the lease ends, on the book's clock. */
  lapsesAtMs: number;
  older: Leased | undefined;
  newer: Leased | undefined;
}

/** Leases of one duration, in the order in which they lapse. Every change takes constant time. */
export class LeaseList<Item extends Leased> {
  private oldest: Leased | undefined;
  private newest: Leased | undefined;

  constructor(private readonly leaseMs: number) {}

  /** Starts or restarts a lease. `nowMs` never goes back. */
  lease(item: Item, nowMs: number): void {
    this.remove(item);
    item.lapsesAtMs = nowMs + this.leaseMs;
    item.older = this.newest;
    if (this.newest) this.newest.newer = item;
    else this.oldest = item;
    this.newest = item;
  }

  /** Ends a lease. No error if the item has none. */
  remove(item: Item): void {
    if (item.older) item.older.newer = item.newer;
    else if (this.oldest === item) this.oldest = item.newer;
    if (item.newer) item.newer.older = item.older;
    else if (this.newest === item) this.newest = item.older;
    item.older = undefined;
    item.newer = undefined;
  }

  *latestFirst(): Generator<Item, void> {
    for (let item = this.newest; item; item = item.older) yield item as Item;
  }

  /** The item whose lease ended first, if any has ended. */
  lapsed(nowMs: number): Item | undefined {
    return this.oldest && this.oldest.lapsesAtMs <= nowMs ? (this.oldest as Item) : undefined;
  }
}

import type { LoggedEvent } from '../delivery/parse-events.js';
import type { PublishBatch, PublishedEvent } from '../publishing/group-commit-log.js';
import type { BatchIds } from './postgres-events.store.js';

/** A batch that this process has stored. */
export interface StoredBatch {
  readonly batch: PublishBatch;
  readonly topics: ReadonlySet<string>;
  /** Its events have these ids and those between them, in their order; others too, if there are more. */
  readonly ids: BatchIds | undefined;
  /** When its statement began, by the monotonic clock. */
  readonly beganAtMs: number;
  /** When it was stored, as Unix time. */
  readonly atMs: number;
}

interface KnownBatch extends StoredBatch {
  readonly ids: BatchIds;
}

export interface RecentBounds {
  readonly events: number;
  /** Characters of payloads. */
  readonly chars: number;
}

/** A reader that is further behind reads from the table, in large batches. */
const BOUNDS: RecentBounds = { events: 10_000, chars: 8 * 1024 * 1024 };

/**
 * The last events of a topic that this process has stored. They are all that the log has of the topic since
 * the first of them, because the ids of the log have no gap since then: a gap is an event of another process,
 * or one that was rolled back, and ends what is known before. So a reader that has come this far takes from
 * here what it would read from the table, without reading and parsing it again.
 */
export class RecentEvents {
  private readonly topic: string;
  private readonly bounds: RecentBounds;
  /** Those with events of the topic, oldest first. */
  private batches: KnownBatch[] = [];
  private events = 0;
  private chars = 0;
  /** Every event of the topic is known whose id is at least `fromId` and less than `endId`. */
  private fromId = 0n;
  private endId = 0n;

  constructor(topic: string, bounds: RecentBounds = BOUNDS) {
    this.topic = topic;
    this.bounds = bounds;
  }

  /** The number of events in batches that its reader has not handled, including a few of other topics. */
  get size(): number {
    return this.events;
  }

  add(stored: StoredBatch): void {
    const { batch } = stored;
    if (!areItsOwn(stored)) return this.clear();
    const { firstId, lastId } = stored.ids;
    if (firstId !== this.endId) {
      this.clear();
      this.fromId = firstId;
    }
    this.endId = lastId + 1n;
    if (!stored.topics.has(this.topic)) return;
    this.batches.push(stored);
    this.events += batch.size;
    this.chars += batch.chars;
    while (this.events > this.bounds.events || this.chars > this.bounds.chars) this.dropOldest();
  }

  /** The next events after this id, at most this many. None if there are none, or if not all are known. */
  after(id: bigint, max: number): LoggedEvent[] {
    const next: LoggedEvent[] = [];
    if (id < this.fromId - 1n) return next;
    for (const { batch, ids, atMs } of this.batches) {
      if (ids.lastId <= id) continue;
      let eventId = ids.firstId;
      for (const event of batch.events) {
        if (next.length >= max) break;
        if (eventId > id && event.topic === this.topic) next.push(loggedEvent(event, eventId, atMs));
        eventId += 1n;
      }
    }
    return next;
  }

  /** Drops what its reader has handled: the events up to this id. */
  forget(id: bigint): void {
    while (this.batches[0] && this.batches[0].ids.lastId <= id) this.dropOldest();
  }

  clear(): void {
    this.batches = [];
    this.events = this.chars = 0;
    this.fromId = this.endId = 0n;
  }

  private dropOldest(): void {
    const dropped = this.batches.shift();
    if (!dropped) return;
    this.events -= dropped.batch.size;
    this.chars -= dropped.batch.chars;
    this.fromId = dropped.ids.lastId + 1n;
  }
}

/** Whether no other event has an id between those of the batch. */
const areItsOwn = (stored: StoredBatch): stored is KnownBatch =>
  stored.ids !== undefined && stored.ids.lastId - stored.ids.firstId + 1n === BigInt(stored.batch.size);

function loggedEvent(
  { key, payload, traceparent, original, value }: PublishedEvent,
  id: bigint,
  atMs: number,
): LoggedEvent {
  return { id, key, payload, atMs, traceparent, original, value };
}

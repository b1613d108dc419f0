import type { EachBatchPayload, KafkaMessage, PartitionOffset } from 'kafkajs';
import type { LoggedEvent } from '../delivery/parse-events.js';

/** Events of several partitions, in partition order, with their end offsets. */
interface Chunk {
  readonly events: readonly LoggedEvent[];
  readonly ends: readonly { readonly payload: EachBatchPayload; readonly lastOffset: string }[];
  /** The offsets to commit once the events are handled. */
  readonly committed: PartitionOffset[];
}

/** The events of one fetch, in chunks. */
export class FetchedBatches {
  /** The number of events fetched. */
  readonly size: number;
  private readonly parts: { readonly payload: EachBatchPayload; taken: number }[];

  constructor(payloads: readonly EachBatchPayload[]) {
    this.parts = payloads.map((payload) => ({ payload, taken: 0 }));
    this.size = payloads.reduce((sum, { batch }) => sum + batch.messages.length, 0);
  }

  /** When the oldest event was stored that is not taken yet; undefined when all are. */
  get oldestMs(): number | undefined {
    const nexts = this.parts.flatMap(({ payload, taken }) => payload.batch.messages[taken] ?? []);
    return nexts.length === 0 ? undefined : Math.min(...nexts.map(({ timestamp }) => Number(timestamp)));
  }

  /** The next events, at most `max`; empty when all are taken. */
  next(max: number): Chunk {
    const events: LoggedEvent[] = [];
    const ends: { payload: EachBatchPayload; lastOffset: string }[] = [];
    for (const part of this.parts) {
      const { payload } = part;
      const messages = payload.batch.messages.slice(part.taken, part.taken + max - events.length);
      const last = messages.at(-1);
      if (last === undefined) continue;
      part.taken += messages.length;
      for (const message of messages) events.push(eventOf(message));
      ends.push({ payload, lastOffset: last.offset });
    }
    const committed = ends.map(({ payload, lastOffset }) => ({
      partition: payload.batch.partition,
      offset: String(BigInt(lastOffset) + 1n),
    }));
    return { events, ends, committed };
  }
}

/** A message without a value is passed on as an unreadable event. */
export function eventOf({ offset, key, value, headers, timestamp }: KafkaMessage): LoggedEvent {
  const traceparent = headers?.['traceparent']?.toString();
  return {
    id: BigInt(offset),
    key: key?.toString() ?? '',
    payload: value?.toString() ?? '',
    atMs: Number(timestamp),
    ...(traceparent !== undefined && { traceparent }),
  };
}

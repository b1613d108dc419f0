import { expect, it } from 'vitest';
import { PublishBatch } from '../publishing/group-commit-log.js';
import { counted } from '../../test/counted-events.js';
import { RecentEvents, type StoredBatch } from './recent-events.js';

/** A batch whose first event has this id, with an event of each topic. */
function stored(firstId: bigint, topics: readonly string[] = [counted.topic], lastId?: bigint): StoredBatch {
  const batch = new PublishBatch(60_000, () => undefined);
  for (const topic of topics)
    batch.add({
      topic,
      key: 'ada',
      payload: '12345',
      traceparent: null,
      original: undefined,
      value: undefined,
    });
  batch.resolve();
  const ids = { firstId, lastId: lastId ?? firstId + BigInt(topics.length) - 1n };
  return { batch, topics: new Set(topics), ids, beganAtMs: 0, atMs: 0 };
}

const idsAfter = (recent: RecentEvents, id: bigint, max = 100): number[] =>
  recent.after(id, max).map((event) => Number(event.id));

const three = Array.from({ length: 3 }, () => counted.topic);

it('has every event from the first id on, in order and up to a maximum', () => {
  const recent = new RecentEvents(counted.topic);
  recent.add(stored(10n, three));
  recent.add(stored(13n, three));
  expect(idsAfter(recent, 9n)).toEqual([10, 11, 12, 13, 14, 15]);
  expect(idsAfter(recent, 11n, 3)).toEqual([12, 13, 14]);
  expect(idsAfter(recent, 15n)).toEqual([]);
});

it('has nothing for a reader that may have missed an event before the first one', () => {
  const recent = new RecentEvents(counted.topic);
  recent.add(stored(10n));
  expect(idsAfter(recent, 8n)).toEqual([]);
});

it('leaves out events of other topics, whose ids are no gaps', () => {
  const recent = new RecentEvents(counted.topic);
  recent.add(stored(10n, [counted.topic, 'other.v1', counted.topic]));
  recent.add(stored(13n, ['other.v1']));
  recent.add(stored(14n));
  expect(idsAfter(recent, 9n)).toEqual([10, 12, 14]);
  expect(idsAfter(recent, 12n)).toEqual([14]);
});

it('begins again after a gap, before a lower id, and after a batch whose ids are unknown or shared', () => {
  const recent = new RecentEvents(counted.topic);
  recent.add(stored(10n));
  recent.add(stored(12n));
  expect(idsAfter(recent, 9n)).toEqual([]);
  expect(idsAfter(recent, 11n)).toEqual([12]);
  recent.add(stored(3n));
  expect(idsAfter(recent, 11n)).toEqual([]);
  expect(idsAfter(recent, 2n)).toEqual([3]);
  recent.add(stored(4n, three, 7n));
  expect(idsAfter(recent, 2n)).toEqual([]);
  recent.add({ ...stored(8n), ids: undefined });
  recent.add(stored(9n));
  expect(idsAfter(recent, 7n)).toEqual([]);
  expect(idsAfter(recent, 8n)).toEqual([9]);
});

it.each([
  { events: 4, chars: 1_000 },
  { events: 1_000, chars: 20 },
])('drops the oldest batches beyond %j, and has nothing for a reader that has not come so far', (bounds) => {
  const recent = new RecentEvents(counted.topic, bounds);
  for (let id = 1n; id <= 9n; id += 1n) recent.add(stored(id));
  expect(idsAfter(recent, 4n)).toEqual([]);
  expect(idsAfter(recent, 5n)).toEqual([6, 7, 8, 9]);
});

it('drops what its reader has handled, and keeps a batch of which it has handled a part', () => {
  const recent = new RecentEvents(counted.topic, { events: 3, chars: 1_000 });
  recent.add(stored(1n, three));
  recent.forget(2n);
  expect(idsAfter(recent, 2n)).toEqual([3]);
  recent.forget(3n);
  recent.add(stored(4n, three));
  expect(idsAfter(recent, 3n)).toEqual([4, 5, 6]);
});

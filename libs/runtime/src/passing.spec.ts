import { setFlagsFromString, getHeapStatistics } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { PassingMap, PassingSet } from './passing.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

interface Entries {
  set(key: string, value: object): unknown;
  delete(key: string): boolean;
}

const ENTRIES = 2_000;
/** The memory of one entry. */
const WORDS = 500;

/** What collections of young objects leave of entries that have come and gone, in bytes. */
function bytesLeft(entries: Entries): number {
  entries.set('first', {});
  // Into the old generation.
  collect();
  const beforeBytes = getHeapStatistics().used_heap_size;
  for (let at = 0; at < ENTRIES; at += 1) {
    entries.set(
      `key ${at}`,
      Array.from({ length: WORDS }, () => at),
    );
    entries.delete(`key ${at - 10}`);
    if (at % 500 === 0) collect({ type: 'minor' });
  }
  collect({ type: 'minor' });
  collect({ type: 'minor' });
  return getHeapStatistics().used_heap_size - beforeBytes;
}

describe('PassingMap', () => {
  it('leaves entries that have gone to the collection of young objects, which a Map does not', () => {
    const ofMap = bytesLeft(new Map());
    expect(ofMap).toBeGreaterThan((ENTRIES * WORDS * 4) / 2);
    expect(bytesLeft(new PassingMap())).toBeLessThan(ofMap / 4);
  });

  it('keeps its entries, in their order, over all copies', () => {
    const map = new PassingMap<number, string>();
    for (let at = 0; at < 1_000; at += 1) {
      map.set(at, `value ${at}`);
      if (at % 3 > 0) map.delete(at);
    }
    const left = Array.from({ length: 334 }, (_, at) => at * 3);
    expect([...map.keys()]).toEqual(left);
    expect([...map.values()]).toEqual(left.map((at) => `value ${at}`));
    expect([...map]).toEqual(left.map((at) => [at, `value ${at}`]));
    expect([map.size, map.get(999), map.get(998), map.has(999), map.has(998)]).toEqual([
      334,
      'value 999',
      undefined,
      true,
      false,
    ]);
    expect(map.delete(998)).toBe(false);
  });

  it('lets entries be deleted while it is read', () => {
    const map = new PassingMap<number, number>();
    for (let at = 0; at < 300; at += 1) map.set(at, at);
    for (const [key] of map) map.delete(key);
    expect(map.size).toBe(0);
  });
});

it('a PassingSet has its members once, in their order', () => {
  const set = new PassingSet<number>();
  for (let at = 0; at < 600; at += 1) set.add(at % 300);
  for (const member of set) if (member % 2 === 0) set.delete(member);
  expect([...set]).toEqual(Array.from({ length: 150 }, (_, at) => at * 2 + 1));
  expect([set.size, set.has(1), set.has(2), set.delete(2)]).toEqual([150, true, false, false]);
});

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MediaStore, ObjectTooLarge } from '../src/files/media-store.js';

export async function* pieces(...texts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

export async function contentOf(store: MediaStore, key: string): Promise<Buffer | undefined> {
  const content = await store.open(key);
  if (!content) return undefined;
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

/** A store to test, and the names of what it holds, unfinished objects included. */
export interface TestedStore {
  readonly store: MediaStore;
  readonly held: () => Promise<string[]>;
  readonly stop: () => Promise<void>;
}

/** Larger than one part of an upload, and no multiple of it. */
const LARGE = Buffer.alloc(12_345_678, 'a movie');
const CUT = 65_537;

const cut = (bytes: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / CUT) }, (_, at) => bytes.subarray(at * CUT, (at + 1) * CUT));

/** What every store of media promises. */
export function storesMedia(name: string, start: () => Promise<TestedStore>): void {
  describe(`${name}: objects`, () => {
    let tested: TestedStore;
    beforeAll(async () => {
      tested = await start();
    });
    afterAll(() => tested.stop());

    it('stores an object whole, replaces it and deletes it', async () => {
      const { store, held } = tested;
      const stored = await store.put('a', pieces('hello ', 'world'), 11);
      expect([stored.bytes, stored.head.toString()]).toEqual([11, 'hello world']);
      expect(String(await contentOf(store, 'a'))).toBe('hello world');
      await store.put('a', pieces('again'), 11);
      expect(String(await contentOf(store, 'a'))).toBe('again');
      await store.remove('a');
      await store.remove('a');
      expect(await contentOf(store, 'a')).toBeUndefined();
      expect(await held()).toEqual([]);
    });

    it.each([0, 1, 5_242_879, 5_242_880, 5_242_881, 10_485_760, LARGE.length])(
      'returns an object of %i bytes as it was',
      async (length) => {
        const { store } = tested;
        const bytes = LARGE.subarray(0, length);
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        const { head, ...stored } = await store.put('large', pieces(...cut(bytes)), length);
        expect(stored).toEqual({ bytes: length, sha256 });
        expect(head.equals(bytes.subarray(0, 64))).toBe(true);
        expect((await contentOf(store, 'large'))?.equals(bytes)).toBe(true);
        await store.remove('large');
      },
    );

    it.each([11, 6_000_000])(
      'keeps the earlier object, and nothing else, when a new one is too large or breaks after %i bytes',
      async (bytes) => {
        const { store, held } = tested;
        await store.put('a', pieces('first'), 10);
        const content = LARGE.subarray(0, bytes);
        await expect(store.put('a', pieces(...cut(content), '!'), bytes)).rejects.toBeInstanceOf(
          ObjectTooLarge,
        );
        const broken = (async function* () {
          yield* pieces(...cut(content));
          throw new Error('cut');
        })();
        await expect(store.put('a', broken, bytes)).rejects.toThrow('cut');
        expect(String(await contentOf(store, 'a'))).toBe('first');
        expect(await held()).toEqual(['a']);
        await store.remove('a');
      },
    );

    it('can be read by many at once, and lets a reader leave', async () => {
      const { store } = tested;
      await store.put('a', pieces(...cut(LARGE)), LARGE.length);
      const readers = Array.from({ length: 8 }, () => contentOf(store, 'a'));
      for await (const part of (await store.open('a')) ?? []) {
        expect(part.length).toBeGreaterThan(0);
        break;
      }
      for (const bytes of await Promise.all(readers)) expect(bytes?.equals(LARGE)).toBe(true);
      await store.remove('a');
    });

    it('refuses names that are not plain', async () => {
      for (const key of ['../a', 'a/b', '', 'a.tmp', 'x'.repeat(65)])
        await expect(tested.store.put(key, pieces('x'), 1)).rejects.toBeInstanceOf(RangeError);
    });
  });
}

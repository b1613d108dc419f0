import { randomBytes } from 'node:crypto';
import { BLOCK_BYTES, type FileBlocks } from '@svc/contracts/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** A port to test. */
export interface TestedBlocks {
  readonly blocks: FileBlocks;
  readonly stop: () => Promise<void>;
}

/** What every implementation of `FileBlocks` promises. */
export function keepsFileBlocks(name: string, start: () => Promise<TestedBlocks>): void {
  describe(`${name}: blocks of files`, () => {
    let tested: TestedBlocks;
    beforeAll(async () => {
      tested = await start();
    });
    afterAll(() => tested.stop());

    it.each([1, 65_537, BLOCK_BYTES - 1, BLOCK_BYTES])(
      'returns a block of %i bytes as it was, again and again',
      async (length) => {
        const { blocks } = tested;
        const bytes = randomBytes(length);
        await blocks.put('file-a-0', bytes);
        for (let time = 1; time <= 2; time += 1)
          expect((await blocks.get('file-a-0'))?.equals(bytes)).toBe(true);
      },
    );

    it('replaces a block of the same name, and only that', async () => {
      const { blocks } = tested;
      await blocks.put('file-b-1', Buffer.from('first'));
      await blocks.put('file-b-10', Buffer.from('another'));
      await blocks.put('file-b-1', Buffer.from('second'));
      expect(String(await blocks.get('file-b-1'))).toBe('second');
      expect(String(await blocks.get('file-b-10'))).toBe('another');
    });

    it('stores a view of a larger buffer, which may change afterwards', async () => {
      const { blocks } = tested;
      const whole = Buffer.from('left, middle, right');
      await blocks.put('file-c-0', whole.subarray(6, 12));
      whole.fill(0);
      expect(String(await blocks.get('file-c-0'))).toBe('middle');
    });

    it('deletes a block, or none, and has none then', async () => {
      const { blocks } = tested;
      await blocks.put('file-d-0', Buffer.from('x'));
      await blocks.remove('file-d-0');
      await blocks.remove('file-d-0');
      expect(await blocks.get('file-d-0')).toBeUndefined();
      expect(await blocks.get('file-never')).toBeUndefined();
    });

    it('keeps many blocks that are stored side by side', async () => {
      const { blocks } = tested;
      const names = Array.from({ length: 20 }, (_, at) => `file-e-${at}`);
      await Promise.all(names.map((each) => blocks.put(each, Buffer.from(each))));
      const read = await Promise.all(names.map((each) => blocks.get(each)));
      expect(read.map(String)).toEqual(names);
    });
  });
}

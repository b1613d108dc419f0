import { ExtractionFailed, type Retrieval } from '@svc/contracts/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pdfFile, wordFile } from './sample-files.js';

/** The implementation under test. */
interface RetrievalSubject {
  /** Reads 25 MB at most. */
  readonly retrieval: Retrieval;
  readonly stop: () => Promise<void>;
}

export interface ConformanceOptions {
  readonly name: string;
  readonly start: () => Promise<RetrievalSubject>;
}

/** The guarantees of every implementation of the port `Retrieval`. */
export function retrievalConformance({ name, start }: ConformanceOptions): void {
  const accountId = 'an account';
  let subject: RetrievalSubject;
  let retrieval: Retrieval;

  describe(`${name}`, () => {
    beforeAll(async () => {
      subject = await start();
      ({ retrieval } = subject);
    });
    afterAll(() => subject.stop());

    it('returns the text and the kind of a file', async () => {
      const file = { accountId, bytes: wordFile() };
      expect(await retrieval.extractText(file)).toEqual({
        text: '# Report\n\nGröße & 数\n\n| Name | Age |\n| --- | --- |\n| Ada | 36 |',
        kind: 'docx',
      });
    });

    it('uses the media type and the name, in any script', async () => {
      const bytes = Buffer.from('a,b\n');
      expect(await retrieval.extractText({ accountId, bytes, mediaType: 'text/csv' })).toMatchObject({
        kind: 'csv',
      });
      expect(await retrieval.extractText({ accountId, bytes, name: 'Größe 数 🙂.md' })).toMatchObject({
        kind: 'markdown',
      });
      expect(
        await retrieval.extractText({ accountId, bytes, name: `${'long'.repeat(1_000)}.json` }),
      ).toMatchObject({ kind: 'json' });
    });

    it('fails with a reason for the client, and shows whether the file is at fault', async () => {
      const failure: unknown = await retrieval
        .extractText({ accountId, bytes: new Uint8Array() })
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ExtractionFailed);
      expect(failure).toMatchObject({ reason: 'the file is empty', retryable: false });
    });

    it('reads a file of 25 MB, and rejects a larger one', async () => {
      const bytes = Buffer.alloc(25_000_000, 'all work and no play\n');
      const { text } = await retrieval.extractText({ accountId, bytes, name: 'a.txt' });
      expect(text.startsWith('all work and no play\nall work')).toBe(true);
      const beyond = { accountId, bytes: Buffer.alloc(25_000_001, 'x'), name: 'a.txt' };
      await expect(retrieval.extractText(beyond)).rejects.toMatchObject({ reason: 'the file is over 25 MB' });
    });

    it('leaves the caller its bytes', async () => {
      const bytes = pdfFile(['One']);
      const before = Buffer.from(bytes);
      await retrieval.extractText({ accountId, bytes });
      expect(before.equals(bytes)).toBe(true);
    });

    it('ends at once when the caller aborts', async () => {
      const leaving = AbortSignal.abort(new Error('left'));
      await expect(retrieval.extractText({ accountId, bytes: pdfFile(['One']) }, leaving)).rejects.toThrow(
        'left',
      );
    });
  });
}

import { ExtractionFailed, type Retrieval } from '@svc/contracts';
import { afterAll, describe, expect, it } from 'vitest';
import { pdfFile, wordFile } from '../test/sample-files.js';

export interface ConformanceOptions {
  readonly name: string;
  /** Reads 25 MB at most. */
  readonly retrieval: Retrieval;
  readonly stop: () => Promise<void>;
}

/** What every adapter of the port `Retrieval` keeps. */
export function retrievalConformance({ name, retrieval, stop }: ConformanceOptions): void {
  const accountId = 'an account';

  describe(`${name}`, () => {
    afterAll(() => stop());

    it('gives the text of a file and what it was', async () => {
      const file = { accountId, bytes: wordFile() };
      expect(await retrieval.extractText(file)).toEqual({
        text: '# Report\n\nGröße & 数\n\n| Name | Age |\n| --- | --- |\n| Ada | 36 |',
        kind: 'docx',
      });
    });

    it('goes by the media type and the name, in any letters', async () => {
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

    it('fails with words for the client, and says whose fault it is', async () => {
      const failure: unknown = await retrieval
        .extractText({ accountId, bytes: new Uint8Array() })
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ExtractionFailed);
      expect(failure).toMatchObject({ reason: 'the file is empty', retryable: false });
    });

    it('leaves the caller its bytes', async () => {
      const bytes = pdfFile(['One']);
      const before = Buffer.from(bytes);
      await retrieval.extractText({ accountId, bytes });
      expect(before.equals(bytes)).toBe(true);
    });

    it('ends at once when the caller leaves', async () => {
      const leaving = AbortSignal.abort(new Error('left'));
      await expect(retrieval.extractText({ accountId, bytes: pdfFile(['One']) }, leaving)).rejects.toThrow(
        'left',
      );
    });
  });
}

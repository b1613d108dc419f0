import { randomBytes } from 'node:crypto';
import { ExtractionFailed } from '@svc/contracts/ports';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LocalRetrieval } from './local-retrieval.js';
import { type RetrievalConfig, retrievalConfig } from './retrieval.config.js';
import {
  bookFile,
  cornersFile,
  loopingPdf,
  passwordPdf,
  pdfBomb,
  pdfFile,
  slidesFile,
  wordBody,
  wordFile,
  wordXml,
  workbookFile,
} from '../test/sample-files.js';

const me = { accountId: 'account' };
const opened: LocalRetrieval[] = [];

function open(changes: Partial<RetrievalConfig> = {}): LocalRetrieval {
  const retrieval = new LocalRetrieval({ ...z.object(retrievalConfig).parse({}), ...changes });
  opened.push(retrieval);
  return retrieval;
}

const retrieval = open({ RETRIEVAL_TIMEOUT_MS: 25_000 });
const textOf = async (bytes: Uint8Array, name?: string): Promise<string> =>
  (await retrieval.extractText({ ...me, bytes, name })).text;
const reasonOf = async (bytes: Uint8Array, name?: string): Promise<string> => {
  const failure: unknown = await retrieval
    .extractText({ ...me, bytes, name })
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ExtractionFailed);
  return failure instanceof ExtractionFailed ? failure.reason : '';
};

afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()));
});

describe('extractText', () => {
  it('returns the pages of a PDF in order as plain text', async () => {
    const response = await retrieval.extractText({
      ...me,
      bytes: pdfFile(['One', 'Two']),
      mediaType: 'application/pdf',
    });
    expect(response).toEqual({ text: 'One\nsecond line\n\nTwo\nsecond line', kind: 'pdf' });
  });

  it('returns a DOCX as Markdown with headings and tables', async () => {
    expect(await textOf(wordFile())).toBe(
      '# Report\n\nGröße & 数\n\n| Name | Age |\n| --- | --- |\n| Ada | 36 |',
    );
  });

  it('returns a PPTX in slide order, with lists, tables and notes', async () => {
    expect(await textOf(slidesFile())).toBe(
      '## Plan\n\n- First\n  - Inner\n\nNotes:\n\n- Say hello\n\n## Slide 2\n\n| Q1 | Q2 |\n| --- | --- |\n| 10 | 20 |\n\nLoose text',
    );
  });

  it.each(['xlsx', 'biff8'] as const)(
    'returns a workbook (%s) as tables, with cells as displayed',
    async (type) => {
      expect(await textOf(workbookFile(type))).toBe(
        '## People\n\n| Name | Born | Share |\n| --- | --- | --- |\n| Ada \\| Lovelace | 1985-12-10 | 0.25 |\n| Größe |  | 12 |',
      );
    },
  );

  it('returns the chapters of an EPUB in reading order as Markdown', async () => {
    expect(await textOf(bookFile())).toBe('# One\n\nIt **begins**.\n\n- a\n\n# Two\n\n| k |\n| --- |\n| v |');
  });

  it('returns text unchanged', async () => {
    expect(await retrieval.extractText({ ...me, bytes: Buffer.from('{"a": 1}\n'), name: 'x.json' })).toEqual({
      text: '{"a": 1}\n',
      kind: 'json',
    });
  });

  it('cuts text at the limit, with a note', async () => {
    const small = open({ RETRIEVAL_TEXT_LIMIT_CHARACTERS: 1_000 });
    const { text } = await small.extractText({ ...me, bytes: Buffer.from('🙂'.repeat(600)) });
    expect(text).toMatch(/^(🙂){500}\n\n\[The file goes on; only its first 1000 characters are here\.\]$/u);
    const pages = await small.extractText({
      ...me,
      bytes: pdfFile(Array.from({ length: 300 }, () => 'page')),
    });
    expect(pages.text.length).toBeLessThan(1_100);
  });

  it('never reads a file of this machine for chapters with paths outside their archive', async () => {
    const escaping = bookFile({
      'OPS/book.opf':
        '<package><manifest><item id="x" href="/etc/hostname"/><item id="y" href="file:///etc/hostname"/></manifest>' +
        '<spine><itemref idref="x"/><itemref idref="y"/></spine></package>',
    });
    expect(await reasonOf(escaping)).toBe('it holds no text');
  });
});

describe('extractText with unreadable files', () => {
  const word = wordFile();
  const hidden = '<enc><CipherData><CipherReference URI="OPS/text/two.xhtml"/></CipherData></enc>';
  it.each([
    ['empty', new Uint8Array(), 'the file is empty'],
    ['over the limit', new Uint8Array(25_000_001), 'the file is over 25 MB'],
    ['junk', randomBytes(25_000_000), 'it is neither text nor of a supported type'],
    [
      'a PDF of junk',
      Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(1_000_000)]),
      'the file is damaged',
    ],
    ['a PDF with a password', passwordPdf(), 'the file is password-protected'],
    ['a PDF without text', pdfFile(['']), 'it holds no text; scanned pages are not read'],
    ['a DOCX that is cut off', word.subarray(0, word.length / 2), 'the file is damaged'],
    ['a DOCX of broken XML', wordFile('<w:document><w:body>'), 'the file is damaged'],
    [
      'an EPUB with locked chapters',
      bookFile({ 'META-INF/encryption.xml': hidden }),
      'the file is copy-protected',
    ],
    ['an XLS that is cut off', workbookFile('biff8').subarray(0, 2_000), 'the file is damaged'],
  ])('gives a reason for the client: %s', async (_, bytes, reason) => {
    expect(await reasonOf(bytes)).toBe(reason);
  });
});

describe('extractText with hostile files', () => {
  it('rejects a zip bomb', async () => {
    const bomb = wordFile(Buffer.alloc(220 * 1_048_576, ' '));
    expect(bomb.length).toBeLessThan(1_000_000);
    expect(await reasonOf(bomb)).toBe('the file is too large or too complex');
  });

  it('never expands entities that a document defines', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
    );
    const prolog = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "ha">${levels.join('')}]>`;
    const bomb = wordFile(wordXml(`<w:p><w:r><w:t>&e12;</w:t></w:r></w:p>${wordBody}`, prolog));
    const outcome = await textOf(bomb).catch((error: unknown) => String(error));
    expect(outcome).not.toContain('hahaha');
  });

  it('ends a PDF whose content unpacks to too much memory, and reads the next file', async () => {
    const tight = open({ RETRIEVAL_THREADS: 1, RETRIEVAL_THREAD_BUFFERS_MB: 64 });
    const bomb = { ...me, bytes: pdfBomb(400, ' ') };
    await expect(tight.extractText(bomb)).rejects.toThrow('reading it took too much memory');
    expect((await tight.extractText({ ...me, bytes: pdfFile(['ok']) })).text).toContain('ok');
  });

  it('ends a PDF of millions of operators at the deadline without blocking the event loop', async () => {
    const hasty = open({ RETRIEVAL_TIMEOUT_MS: 1_000 });
    const bytes = pdfBomb(100, 'BT ET ');
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 5);
    await expect(hasty.extractText({ ...me, bytes })).rejects.toThrow('reading it took too long');
    clearInterval(turning);
    expect(turns).toBeGreaterThan(20);
  });

  it('finishes a PDF that loops', async () => {
    const outcome = await textOf(loopingPdf()).catch((error: unknown) => error);
    expect(typeof outcome === 'string' || outcome instanceof ExtractionFailed).toBe(true);
  });

  it('reads a sheet with cells only in its corners, without the cells between', async () => {
    const text = await textOf(cornersFile());
    expect(text).toContain('| first |');
    expect(text).toMatch(/ last \|$/);
  });

  it('gives a text or a reason for every damaged copy of a good file, and keeps working', async () => {
    const samples = [
      pdfFile(['One']),
      wordFile(),
      slidesFile(),
      workbookFile('xlsx'),
      workbookFile('biff8'),
      bookFile(),
    ];
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...samples), damage, async (sample, changes) => {
        const bytes = Uint8Array.from(sample);
        for (const [position, byte] of changes) bytes[position % bytes.length] = byte;
        const outcome: unknown = await retrieval
          .extractText({ ...me, bytes })
          .catch((error: unknown) => error);
        const isReason = outcome instanceof ExtractionFailed && outcome.reason !== 'it could not be read';
        expect(isReason || !(outcome instanceof Error)).toBe(true);
      }),
      { numRuns: 150 },
    );
    expect(await textOf(pdfFile(['still here']))).toContain('still here');
  });
});

import { describe, expect, it } from 'vitest';
import { kindByEnding } from './file-extensions.js';
import { kindOf } from './file-kind.js';
import {
  bookFile,
  compoundFile,
  pdfFile,
  slidesFile,
  wordFile,
  workbookFile,
  zipOf,
} from '../../test/sample-files.js';

const text = Buffer.from('a,b');
const kind = (name?: string, mediaType?: string, bytes: Uint8Array = text): string =>
  kindOf({ name, mediaType, bytes });

describe('kindOf', () => {
  it('trusts the bytes over the media type and the name', () => {
    const wrong = ['x.txt', 'text/plain'] as const;
    expect(kind(...wrong, pdfFile(['a']))).toBe('pdf');
    expect(kind(...wrong, wordFile())).toBe('docx');
    expect(kind(...wrong, slidesFile())).toBe('pptx');
    expect(kind(...wrong, workbookFile('xlsx'))).toBe('xlsx');
    expect(kind(...wrong, workbookFile('biff8'))).toBe('xls');
    expect(kind(...wrong, bookFile())).toBe('epub');
  });

  it('recognizes text by its media type, then by its name, and accepts text without either', () => {
    expect(kind('x.bin', 'text/csv;charset=utf-8')).toBe('csv');
    expect(kind('x.py', 'text/markdown')).toBe('markdown');
    expect(kind('x.py', 'application/octet-stream')).toBe('code');
    expect(kind('x.py', 'text/plain')).toBe('code');
    expect(kind('NOTES.MD')).toBe('markdown');
    expect(kind('x.unheard', 'text/x-unheard')).toBe('text');
    expect(kind('Makefile')).toBe('text');
    expect(kind()).toBe('text');
    expect(kind('x.csv', 'application/vnd.ms-excel')).toBe('csv');
  });

  it('knows at least 140 extensions of text and code, each once', () => {
    const kinds = [...kindByEnding.values()];
    expect(kinds.filter((each) => each === 'code').length).toBeGreaterThanOrEqual(140);
    expect([...kindByEnding.keys()].every((ending) => /^[a-z0-9]+$/.test(ending))).toBe(true);
  });

  it.each([
    ['a file that only claims to be a PDF', 'x.pdf', 'application/pdf', text, 'not a valid PDF file'],
    ['a file that only claims to be a DOCX', 'x.docx', undefined, text, 'not a valid DOCX file'],
    ['an unknown ending', 'x.exe', 'application/octet-stream', text, '.exe files are not supported'],
    ['an audio file', 'x', 'audio/mpeg', text, 'files of type audio/mpeg are not supported'],
    ['an RTF file', 'x.txt', undefined, Buffer.from('{\\rtf1 a}'), 'RTF files are not supported'],
    ['a zip of zips', 'x.docx', undefined, zipOf({ 'a.zip': zipOf({ b: 'c' }) }), 'ZIP archives'],
    [
      'an OpenDocument file',
      'x.odt',
      undefined,
      zipOf({ mimetype: 'application/vnd.oasis.opendocument.text' }),
      'OpenDocument',
    ],
    ['an encrypted Office file', 'x.docx', undefined, compoundFile('EncryptedPackage'), 'password-protected'],
    ['an old Word file', 'x.doc', undefined, compoundFile('WordDocument'), 'DOC files are not supported'],
    ['an old PowerPoint file', 'x.ppt', undefined, compoundFile('PowerPoint Document'), 'PPT files'],
  ])('rejects %s with a reason for the client', (...row) => {
    const [, name, mediaType, bytes, reason] = row;
    expect(() => kindOf({ name, mediaType, bytes })).toThrow(reason);
  });
});

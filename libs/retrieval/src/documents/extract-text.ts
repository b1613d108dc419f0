import type { ExtractedText } from '@svc/contracts/ports';
import { bookMarkdown } from './book.js';
import { decodeText } from './decode-text.js';
import type { FileKind } from './file-extensions.js';
import { kindOf } from './file-kind.js';
import { Unreadable } from '@svc/threads';
import { pdfText } from './pdf.js';
import { slidesMarkdown } from './slides.js';
import { oldSheetsMarkdown, sheetsMarkdown } from './spreadsheet.js';
import { wordMarkdown } from './word.js';

/** A file to read: the input of a thread. */
export interface TextJob {
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  readonly bytes: Uint8Array;
  readonly textLimit: number;
}

/** The text of a file. Throws Unreadable, or a library's error on a damaged file. */
export async function extractText(job: TextJob): Promise<ExtractedText> {
  const kind = kindOf(job);
  const text = await textOf(kind, job);
  if (text.trim() === '')
    throw new Unreadable(
      kind === 'pdf' ? 'it holds no text; scanned pages are not read' : 'it holds no text',
    );
  return { text: cut(text, job.textLimit), kind };
}

function textOf(kind: FileKind, { bytes, textLimit }: TextJob): string | Promise<string> {
  switch (kind) {
    case 'pdf':
      return pdfText(bytes, textLimit);
    case 'docx':
      return wordMarkdown(bytes);
    case 'pptx':
      return slidesMarkdown(bytes, textLimit);
    case 'xlsx':
      return sheetsMarkdown(bytes, textLimit);
    case 'xls':
      return oldSheetsMarkdown(bytes, textLimit);
    case 'epub':
      return bookMarkdown(bytes, textLimit);
    case 'csv':
    case 'json':
    case 'markdown':
    case 'text':
    case 'code':
      return decodeText(bytes);
  }
}

/** Replaces half of a surrogate pair at the end, so that the text stays valid. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).toWellFormed()}\n\n[The file goes on; only its first ${limit} characters are here.]`;
}

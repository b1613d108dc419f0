import { Archive } from './archive.js';
import { type FileKind, kindByEnding } from './file-extensions.js';
import { DAMAGED, Unreadable } from '@svc/threads';
import { elementsOf } from './xml.js';

export interface FileClues {
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  readonly bytes: Uint8Array;
}

const byMediaType: ReadonlyMap<string, FileKind> = new Map([
  ['application/pdf', 'pdf'],
  ['application/epub+zip', 'epub'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'pptx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['application/vnd.ms-excel', 'xls'],
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'csv'],
  ['text/markdown', 'markdown'],
  ['application/json', 'json'],
]);

const binaryKinds: ReadonlySet<FileKind> = new Set(['pdf', 'epub', 'docx', 'pptx', 'xlsx', 'xls'] as const);

/** Content types of the main part, including those with macros. */
const officeTypes: readonly (readonly [RegExp, FileKind])[] = [
  [/(wordprocessingml|ms-word)\.(document|template)(\.macroenabled(template)?)?\.main/i, 'docx'],
  [/(presentationml|ms-powerpoint)\.(presentation|slideshow|template)(\.macroenabled)?\.main/i, 'pptx'],
  [/(spreadsheetml|ms-excel)\.(sheet|template)(\.macroenabled)?\.main/i, 'xlsx'],
];

/** The kind of a file: decided by its bytes if possible, then by its media type, then by its name. */
export function kindOf({ name, mediaType, bytes }: FileClues): FileKind {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const shown = kindByBytes(buffer);
  if (shown) return shown;
  const claimed = claimedKind(mediaType?.split(';')[0]?.trim().toLowerCase() ?? '', endingOf(name));
  // PDF readers tolerate junk before the header.
  if (claimed === 'pdf' && buffer.toString('latin1', 0, 1_024).includes('%PDF-')) return 'pdf';
  if (binaryKinds.has(claimed)) throw new Unreadable(`it is not a valid ${claimed.toUpperCase()} file`);
  return claimed;
}

function kindByBytes(buffer: Buffer): FileKind | undefined {
  const start = buffer.toString('latin1', 0, 8);
  if (start.startsWith('PK\u0003\u0004')) return kindOfZip(buffer);
  if (start === '\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1') return kindOfCompound(buffer);
  if (start.startsWith('%PDF-')) return 'pdf';
  if (start.startsWith('{\\rtf')) throw new Unreadable('RTF files are not supported');
  return undefined;
}

function kindOfZip(bytes: Uint8Array): FileKind {
  const marks = new Set(['[Content_Types].xml', 'META-INF/container.xml', 'mimetype']);
  const parts = new Archive(bytes).read((name) => marks.has(name));
  const types = parts.get('[Content_Types].xml');
  if (types) {
    for (const { attributes } of elementsOf(types, 'Override', 'Default')) {
      const office = officeTypes.find(([pattern]) => pattern.test(attributes['ContentType'] ?? ''));
      if (office) return office[1];
    }
  }
  if (parts.has('META-INF/container.xml')) return 'epub';
  if (
    Buffer.from(parts.get('mimetype') ?? [])
      .toString('latin1')
      .includes('opendocument')
  )
    throw new Unreadable('OpenDocument files are not supported');
  throw new Unreadable('ZIP archives are not supported');
}

/** The container of old Office files and of encrypted new ones. Its directory has names in UTF-16. */
function kindOfCompound(buffer: Buffer): FileKind {
  const has = (name: string): boolean => buffer.includes(Buffer.from(`${name}\0`, 'utf16le'));
  if (has('EncryptedPackage')) throw new Unreadable('the file is password-protected');
  if (has('WordDocument')) throw new Unreadable('DOC files are not supported; save it as DOCX');
  if (has('PowerPoint Document')) throw new Unreadable('PPT files are not supported; save it as PPTX');
  if (has('Workbook') || has('Book')) return 'xls';
  throw new Unreadable(DAMAGED);
}

function claimedKind(type: string, ending: string | undefined): FileKind {
  const named = kindByEnding.get(ending ?? '');
  const typed = byMediaType.get(type);
  // Browsers on a machine with a spreadsheet program send CSV with that program's type.
  if (typed === 'xls' && named === 'csv') return named;
  if (typed) return typed;
  if (/^(image|audio|video)\//.test(type) && type !== 'image/svg+xml')
    throw new Unreadable(`files of type ${type.slice(0, 60)} are not supported`);
  if (named) return named;
  if (ending !== undefined && !type.startsWith('text/'))
    throw new Unreadable(`.${ending} files are not supported`);
  return 'text';
}

const endingOf = (name: string | undefined): string | undefined =>
  /[^/\\]\.([\w+-]{1,20})$/.exec(name ?? '')?.[1]?.toLowerCase();

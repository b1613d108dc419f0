// Small files of every kind, written by the tests that read them.
import { deflateSync } from 'node:zlib';
import { CFB, utils, write } from '@e965/xlsx';
import { strToU8, zipSync } from 'fflate';

const relationTypes = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const openXml = 'application/vnd.openxmlformats-officedocument';

/** A zip of texts and bytes, by name. */
export function zipOf(entries: Record<string, string | Uint8Array>): Uint8Array {
  const parts = Object.entries(entries).map(
    ([name, content]) => [name, typeof content === 'string' ? strToU8(content) : content] as const,
  );
  return zipSync(Object.fromEntries(parts), { level: 6 });
}

interface Relation {
  readonly id: string;
  readonly type: string;
  readonly target: string;
}

function relations(...all: readonly Relation[]): string {
  const links = all.map(
    ({ id, type, target }) => `<Relationship Id="${id}" Type="${relationTypes}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${links.join('')}</Relationships>`;
}

function contentTypes(part: string, type: string): string {
  return (
    `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
    `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/>` +
    `<Override PartName="${part}" ContentType="${openXml}.${type}"/></Types>`
  );
}

const wordParagraph = (text: string, style = ''): string =>
  `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

const wordCell = (text: string): string => `<w:tc>${wordParagraph(text)}</w:tc>`;

export const wordBody =
  wordParagraph('Report', 'Heading1') +
  wordParagraph('Größe & 数').replace('&', '&amp;') +
  `<w:tbl><w:tr>${wordCell('Name')}${wordCell('Age')}</w:tr><w:tr>${wordCell('Ada')}${wordCell('36')}</w:tr></w:tbl>`;

const wordStyles =
  `<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">` +
  `<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`;

export function wordXml(body: string, prolog = ''): string {
  return `${prolog}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`;
}

export function wordFile(
  document: string | Uint8Array = wordXml(wordBody),
  more: Record<string, string | Uint8Array> = {},
): Uint8Array {
  return zipOf({
    '[Content_Types].xml': contentTypes('/word/document.xml', 'wordprocessingml.document.main+xml'),
    '_rels/.rels': relations({ id: 'rId1', type: 'officeDocument', target: 'word/document.xml' }),
    'word/_rels/document.xml.rels': relations({ id: 'rId1', type: 'styles', target: 'styles.xml' }),
    'word/styles.xml': wordStyles,
    'word/document.xml': document,
    ...more,
  });
}

const slideNames = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="${relationTypes}"`;
const slideParagraph = (text: string, level = 0): string =>
  `<a:p><a:pPr lvl="${level}"/><a:r><a:t>${text}</a:t></a:r></a:p>`;
const shape = (placeholder: string, ...paragraphs: readonly string[]): string =>
  `<p:sp><p:nvSpPr><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs.join('')}</p:txBody></p:sp>`;
const slide = (content: string): string =>
  `<p:sld ${slideNames}><p:cSld><p:spTree>${content}</p:spTree></p:cSld></p:sld>`;

/** Its slides are stored in another order than they are shown in. */
export function slidesFile(): Uint8Array {
  const tableCell = (text: string): string => `<a:tc><a:txBody>${slideParagraph(text)}</a:txBody></a:tc>`;
  const table = `<p:graphicFrame><a:tbl><a:tr>${tableCell('Q1')}${tableCell('Q2')}</a:tr><a:tr>${tableCell('10')}${tableCell('20')}</a:tr></a:tbl></p:graphicFrame>`;
  return zipOf({
    '[Content_Types].xml': contentTypes('/ppt/presentation.xml', 'presentationml.presentation.main+xml'),
    'ppt/presentation.xml': `<p:presentation ${slideNames}><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(
      { id: 'rId1', type: 'slide', target: 'slides/slide1.xml' },
      { id: 'rId2', type: 'slide', target: '/ppt/slides/slide2.xml' },
    ),
    'ppt/slides/slide2.xml': slide(
      shape('<p:ph type="title"/>', slideParagraph('Plan')) +
        shape('<p:ph idx="1"/>', slideParagraph('First'), slideParagraph('Inner', 1)) +
        shape('<p:ph type="sldNum"/>', slideParagraph('7')),
    ),
    'ppt/slides/_rels/slide2.xml.rels': relations({
      id: 'rId1',
      type: 'notesSlide',
      target: '../notesSlides/notesSlide1.xml',
    }),
    'ppt/notesSlides/notesSlide1.xml': slide(shape('<p:ph type="body"/>', slideParagraph('Say hello'))),
    'ppt/slides/slide1.xml': slide(table + shape('', slideParagraph('Loose text'))),
  });
}

const sheetRows = [
  ['Name', 'Born', 'Share'],
  ['Ada | Lovelace', new Date(Date.UTC(1985, 11, 10)), 0.25],
  [],
  ['Größe', undefined, 12],
];

export function workbookFile(type: 'xlsx' | 'biff8', rows: unknown[][] = sheetRows): Uint8Array {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows, { UTC: true, dateNF: 'yyyy-mm-dd' }), 'People');
  utils.book_append_sheet(book, utils.aoa_to_sheet([]), 'Nothing');
  return new Uint8Array(write(book, { type: 'array', bookType: type, compression: true }) as ArrayBuffer);
}

/** A sheet whose only cells are its first and its last. */
export function cornersFile(): Uint8Array {
  const names = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${relationTypes}"`;
  const cell = (at: string, text: string): string => `<c r="${at}" t="inlineStr"><is><t>${text}</t></is></c>`;
  return zipOf({
    '[Content_Types].xml': contentTypes('/xl/workbook.xml', 'spreadsheetml.sheet.main+xml'),
    '_rels/.rels': relations({ id: 'rId1', type: 'officeDocument', target: 'xl/workbook.xml' }),
    'xl/workbook.xml': `<workbook ${names}><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations({
      id: 'rId1',
      type: 'worksheet',
      target: 'worksheets/sheet1.xml',
    }),
    'xl/worksheets/sheet1.xml':
      `<worksheet ${names}><dimension ref="A1:XFD1048576"/><sheetData><row r="1">${cell('A1', 'first')}</row>` +
      `<row r="1048576">${cell('XFD1048576', 'last')}</row></sheetData></worksheet>`,
  });
}

const chapter = (content: string): string =>
  `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Unseen</title></head><body>${content}</body></html>`;

/** Its chapters are listed in another order than they are read in. */
export function bookFile(more: Record<string, string> = {}): Uint8Array {
  return zipOf({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': `<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>`,
    'OPS/book.opf':
      `<package><manifest><item id="b" href="text/two.xhtml"/><item id="a" href="text/one%20a.xhtml"/>` +
      `<item id="out" href="../../../../etc/hostname"/></manifest>` +
      `<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="out"/></spine></package>`,
    'OPS/text/one a.xhtml': chapter(
      '<h1>One</h1><p>It <b>begins</b>.<img src="x.png"/></p><ul><li>a</li></ul>',
    ),
    'OPS/text/two.xhtml': chapter('<h1>Two</h1><table><tr><th>k</th></tr><tr><td>v</td></tr></table>'),
    '../../../../tmp/evil.xhtml': chapter('<p>never written</p>'),
    ...more,
  });
}

/** A PDF of those objects, numbered from 1, the first of which is the catalogue. */
function pdfOf(objects: readonly (string | Uint8Array)[], trailer = ''): Uint8Array {
  const chunks: Uint8Array[] = [Buffer.from('%PDF-1.7\n')];
  const offsets: number[] = [];
  let length = chunks[0]?.length ?? 0;
  const add = (chunk: Uint8Array): void => {
    chunks.push(chunk);
    length += chunk.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    add(Buffer.from(`${index + 1} 0 obj\n`));
    add(Buffer.from(object));
    add(Buffer.from('\nendobj\n'));
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const start = length;
  add(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`));
  add(
    Buffer.from(
      `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(chunks);
}

function pdfStream(content: string | Uint8Array, entries = ''): Uint8Array {
  const bytes = Buffer.from(content);
  return Buffer.concat([
    Buffer.from(`<< /Length ${bytes.length} ${entries} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ]);
}

const pdfPage = (content: string): string =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents ${content} /Resources << /Font << /F 3 0 R >> /XObject << /X 6 0 R >> >> >>`;

const pdfTexts = (text: string): string => `BT /F 12 Tf 10 100 Td (${text}) Tj 0 -20 Td (second line) Tj ET`;

/** A page for each text; a page with nothing on it for an empty one. */
export function pdfFile(texts: readonly string[], trailer = ''): Uint8Array {
  const pages = texts.map((_, index) => `${4 + 2 * index} 0 R`);
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [${pages.join(' ')}] /Count ${texts.length} >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      ...texts.flatMap((text, index) => [
        pdfPage(`${5 + 2 * index} 0 R`),
        pdfStream(text === '' ? '0 0 m' : pdfTexts(text)),
      ]),
    ],
    trailer,
  );
}

export function passwordPdf(): Uint8Array {
  const key = 'ab'.repeat(32);
  return pdfFile(
    ['secret'],
    `/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${key}> /U <${key}> /P -4 >>`,
  );
}

/** A page whose content unpacks, in two steps, to that many megabytes of those operators. */
export function pdfBomb(megabytes: number, operators: string): Uint8Array {
  const packed = deflateSync(deflateSync(Buffer.alloc(megabytes * 1_048_576, operators)));
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    pdfPage('5 0 R'),
    pdfStream(packed, '/Filter [/FlateDecode /FlateDecode]'),
  ]);
}

/** Pages that are their own parents' children, and a drawing that draws itself. */
export function loopingPdf(): Uint8Array {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [2 0 R 4 0 R] /Count 1000000 /Parent 2 0 R >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    pdfPage('5 0 R'),
    pdfStream('/X Do BT /F 12 Tf (again) Tj ET'),
    pdfStream(
      '/X Do /X Do',
      '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>',
    ),
  ]);
}

/** What is used of a part of the library that it leaves untyped. */
interface CompoundFiles {
  readonly utils: {
    cfb_new(): object;
    cfb_add(file: object, path: string, content: Uint8Array): void;
  };
  write(file: object, options: { type: 'buffer' }): Uint8Array;
}

/** The container of old Office files, with one stream of that name. */
export function compoundFile(stream: string): Uint8Array {
  const compound = CFB as CompoundFiles;
  const file = compound.utils.cfb_new();
  compound.utils.cfb_add(file, `/${stream}`, Buffer.alloc(8_192, 7));
  return compound.write(file, { type: 'buffer' });
}

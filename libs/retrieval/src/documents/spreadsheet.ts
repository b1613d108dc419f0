import { type CellObject, type WorkBook, read } from '@e965/xlsx';
import { Archive, repack } from './archive.js';
import { Unreadable } from '@svc/threads';
import { markdownTable } from './markdown.js';

/** XLSX: a heading and a table for each sheet, with cells as the spreadsheet shows them. */
export function sheetsMarkdown(bytes: Uint8Array, limit: number): string {
  const parts = new Archive(bytes).read((name) => /\.(xml|rels)$/i.test(name));
  return workbookMarkdown(repack(parts), limit);
}

/** XLS, in the same form. */
export function oldSheetsMarkdown(bytes: Uint8Array, limit: number): string {
  return workbookMarkdown(bytes, limit);
}

function workbookMarkdown(bytes: Uint8Array, limit: number): string {
  const workbook = open(bytes);
  const sheets: string[] = [];
  let length = 0;
  for (const name of workbook.SheetNames) {
    const rows = filledRows(workbook.Sheets[name]?.['!data'] ?? [], limit - length);
    if (rows.length === 0) continue;
    const sheet = `## ${name}\n\n${markdownTable(rows)}`;
    sheets.push(sheet);
    length += sheet.length;
    if (length > limit) break;
  }
  return sheets.join('\n\n');
}

function open(bytes: Uint8Array): WorkBook {
  try {
    return read(bytes, { type: 'array', dense: true, cellFormula: false, cellHTML: false });
  } catch (error) {
    if (error instanceof Error && /password|encrypt/i.test(error.message))
      throw new Unreadable('the file is password-protected');
    throw error;
  }
}

/** Rows with content, without trailing empty cells; only as many as the limit allows. */
function filledRows(
  data: readonly (readonly (CellObject | undefined)[] | undefined)[],
  limit: number,
): string[][] {
  const rows: string[][] = [];
  let length = 0;
  for (const cells of data) {
    const row = Array.from(cells ?? [], shown);
    row.length = row.findLastIndex((text) => text !== '') + 1;
    if (row.length === 0) continue;
    rows.push(row);
    length += row.reduce((sum, text) => sum + text.length + 3, 0);
    if (length > limit) break;
  }
  return rows;
}

function shown(cell: CellObject | undefined): string {
  if (!cell) return '';
  if (cell.w !== undefined) return cell.w;
  return cell.v === undefined ? '' : String(cell.v);
}

import { htmlToMarkdown } from '@mdream/js';

/** HTML or XHTML to Markdown. Images and everything outside the body are dropped. */
export function markdownOf(html: string): string {
  const body = html.search(/<body[\s>]/i);
  const content = body === -1 ? html : html.slice(body);
  return htmlToMarkdown(content, { plugins: { filter: { exclude: ['img', 'svg'] } } }).trim();
}

const cell = (text: string): string => text.trim().replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

/** A table whose first row is its header. Rows may be shorter than the widest. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head, ...rest] = rows;
  if (!head) return '';
  const width = rows.reduce((most, { length }) => Math.max(most, length), 1);
  const padded = [...head, ...Array.from({ length: width - head.length }, () => '')];
  return [line(padded), line(padded.map(() => '---')), ...rest.map(line)].join('\n');
}

import type { PageElement } from './page-tree.js';

const VOID = new Set('area br col hr img wbr'.split(' '));
const KEPT = new Set(['href', 'colspan', 'rowspan', 'start', 'lang', 'class']);

const TABLE_PARTS = new Set('caption colgroup col thead tbody tfoot tr td th'.split(' '));

/** Elements that do not occur in the cells of a data table. */
const BLOCKS = new Set('table h1 h2 h3 h4 h5 h6 ul ol dl pre blockquote hr'.split(' '));
/** Elements that may occur once in such a cell. */
const LINES = new Set(['p', 'br']);

/**
 * The content of an element as HTML again, without any markup from text. A layout table becomes its contents
 * one after the other, as do parts of a table outside of any table.
 */
export function pageHtml(root: PageElement): string {
  const parts: string[] = [];
  const writeAll = (children: PageElement['children'], inTable: boolean): void => {
    for (const child of children)
      if (typeof child === 'string') parts.push(escaped(child));
      else write(child, inTable);
  };
  const write = (element: PageElement, inTable: boolean): void => {
    const { name, attributes, children } = element;
    const isTable = name === 'table' && !laysOut(element);
    if (TABLE_PARTS.has(name) ? !inTable : name === 'table' && !isTable) {
      parts.push('<div>');
      writeAll(children, false);
      parts.push('</div>');
      return;
    }
    const kept = Object.entries(attributes)
      .filter(([key]) => KEPT.has(key) && (key !== 'class' || name === 'code'))
      .map(([key, value]) => ` ${key}="${escaped(value)}"`);
    parts.push(`<${name}${kept.join('')}>`);
    if (VOID.has(name)) return;
    writeAll(children, isTable || inTable);
    parts.push(`</${name}>`);
  };
  if (root.name === 'table') write(root, false);
  else writeAll(root.children, false);
  return parts.join('');
}

/** Whether a table is used for layout only. Visits each element below it once, except for nested tables. */
function laysOut(table: PageElement): boolean {
  let widest = 0;
  const look = ({ name, children }: PageElement): boolean => {
    const elements = children.filter((child) => typeof child !== 'string');
    if (name === 'tr') widest = Math.max(widest, elements.length);
    const isCell = name === 'td' || name === 'th';
    if (isCell && elements.filter((child) => LINES.has(child.name)).length > 1) return true;
    return elements.some((child) => BLOCKS.has(child.name) || look(child));
  };
  return look(table) || widest < 2;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (mark) => ESCAPES[mark] ?? mark);

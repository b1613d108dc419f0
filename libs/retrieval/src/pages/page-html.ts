import type { PageElement } from './page-tree.js';

const VOID = new Set('area br col hr img wbr'.split(' '));
const KEPT = new Set(['href', 'colspan', 'rowspan', 'start', 'lang', 'class']);

const TABLE_PARTS = new Set('caption colgroup col thead tbody tfoot tr td th'.split(' '));

/** Nothing of it stands in a cell of a table that tells something by its rows. */
const BLOCKS = new Set('table h1 h2 h3 h4 h5 h6 ul ol dl pre blockquote hr'.split(' '));
/** Of these one may. */
const LINES = new Set(['p', 'br']);

/**
 * What is below an element, as HTML again. Nothing in it is markup that was not. A table by which a page is laid out is
 * its contents one after the other, and so are parts of a table that are in none.
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

/** Whether a table has its cells for their places alone. Looks at each element below it once, but for tables in tables. */
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

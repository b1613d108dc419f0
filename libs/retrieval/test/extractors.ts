import { Readability } from '@mozilla/readability';
import { JSDOM } from 'jsdom';
import { pageMarkdown } from '../src/pages/page-markdown.js';

const ADDRESS = 'https://pages.example/one';

/** What the service reads of a page; nothing where it says that there is nothing. */
export function ours(html: string): string {
  const job = { bytes: Buffer.from(html), contentType: 'text/html; charset=utf-8', url: ADDRESS };
  const { text, isShell } = pageMarkdown({ ...job, textLimit: 1_000_000 });
  return isShell ? '' : text;
}

/** What plain Readability reads of it. */
export function plainReadability(html: string): string {
  const { window } = new JSDOM(html, { url: ADDRESS });
  try {
    return new Readability(window.document).parse()?.textContent ?? '';
  } finally {
    window.close();
  }
}

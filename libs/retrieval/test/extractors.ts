import { Readability } from '@mozilla/readability';
import { JSDOM } from 'jsdom';
import { pageMarkdown } from '../src/pages/page-markdown.js';

const ADDRESS = 'https://pages.example/one';

/** The text that the service extracts; empty if it reports none. */
export function ours(html: string): string {
  const job = { bytes: Buffer.from(html), contentType: 'text/html; charset=utf-8', url: ADDRESS };
  const { text, isShell } = pageMarkdown({ ...job, textLimit: 1_000_000 });
  return isShell ? '' : text;
}

/** The text that plain Readability extracts. */
export function plainReadability(html: string): string {
  const { window } = new JSDOM(html, { url: ADDRESS });
  try {
    return new Readability(window.document).parse()?.textContent ?? '';
  } finally {
    window.close();
  }
}

import { htmlToMarkdown } from '@mdream/js';
import { decodeText } from '../documents/decode-text.js';
import { mainContent } from './main-content.js';
import { pageHtml } from './page-html.js';
import { type PageElement, type PageTree, pageTree } from './page-tree.js';

/** What a thread is given to read a page. */
export interface PageJob {
  readonly bytes: Uint8Array;
  /** As it was sent. */
  readonly contentType: string;
  /** The address of the page, against which its links are read. */
  readonly url: string;
  readonly textLimit: number;
}

export interface PageMarkdown {
  readonly title: string;
  /** Empty where there is none. */
  readonly text: string;
  /** Whether its text comes by its scripts, so that this is none of it. */
  readonly isShell: boolean;
  /** As the page tells it, in any form. */
  readonly date: string | undefined;
}

/** Where a page says how its bytes are to be read. */
const META_CHARSET = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w:.-]{1,40})/i;
const HEAD_BYTES = 4_096;

/** HTML is read up to here: a page of more is no text for people. */
const READ_CHARACTERS = 4_000_000;

const DATES = [
  'article:published_time',
  'datepublished',
  'date',
  'dc.date',
  'dcterms.date',
  'article:modified_time',
  'og:updated_time',
];

/** What a page says, as Markdown, without what stands around it. */
export function pageMarkdown({ bytes, contentType, url, textLimit }: PageJob): PageMarkdown {
  const html = htmlOf(bytes, contentType).slice(0, READ_CHARACTERS);
  const tree = pageTree(html);
  const { head } = tree;
  const main = mainContent(tree.body);
  const text = htmlToMarkdown(pageHtml(main), {
    origin: URL.canParse(url) ? new URL(url).origin : '',
    plugins: { filter: { exclude: ['img', 'picture', 'figure > img'] } },
  })
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  const title = (head.meta.get('og:title') ?? head.title).replaceAll(/\s+/g, ' ').trim();
  const date = DATES.map((name) => head.meta.get(name)).find((value) => value !== undefined);
  const isShell = tree.hasScripts && isShellWith(text, tree);
  return { title: title.slice(0, 300), text: text.slice(0, textLimit).toWellFormed(), isShell, date };
}

/** Where frameworks put what their scripts make. */
const ROOT_IDS = /^(root|app|app-root|main-app|__next|__nuxt|___gatsby|svelte|react-root|application)$/i;

/** A page with less than this beside an empty root has not been made yet, and a root with less is empty. */
const MADE_CHARACTERS = 80;

function isShellWith(text: string, { body }: PageTree): boolean {
  return text === '' || (text.length < MADE_CHARACTERS && hasEmptyRoot(body));
}

function hasEmptyRoot({ children }: PageElement): boolean {
  return children.some((child) => {
    if (typeof child === 'string') return false;
    if (ROOT_IDS.test(child.attributes['id'] ?? '')) return lengthOf(child) < MADE_CHARACTERS;
    return hasEmptyRoot(child);
  });
}

const lengthOf = ({ children }: PageElement): number =>
  children.reduce(
    (sum, child) => sum + (typeof child === 'string' ? child.trim().length : lengthOf(child)),
    0,
  );

function htmlOf(bytes: Uint8Array, contentType: string): string {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES));
  const label =
    /charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(contentType)?.[1] ??
    META_CHARSET.exec(beginning.toString('latin1'))?.[1];
  try {
    if (label !== undefined) return new TextDecoder(label).decode(bytes);
  } catch {
    // No such encoding.
  }
  return decodeText(bytes);
}

import { htmlToMarkdown } from '@mdream/js';
import { decodeText } from '../documents/decode-text.js';
import { mainContent } from './main-content.js';
import { pageHtml } from './page-html.js';
import { type PageElement, type PageTree, pageTree } from './page-tree.js';

/** The input of a thread that reads a page. */
export interface PageJob {
  readonly bytes: Uint8Array;
  /** As sent. */
  readonly contentType: string;
  /** The URL of the page, against which its links are resolved. */
  readonly url: string;
  readonly textLimit: number;
}

export interface PageMarkdown {
  readonly title: string;
  /** Empty if the page has no text. */
  readonly text: string;
  /** Whether the text is created by scripts, so that this is not it. */
  readonly isShell: boolean;
  /** As declared by the page, in any format. */
  readonly date: string | undefined;
}

/** Where a page declares its encoding. */
const META_CHARSET = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w:.-]{1,40})/i;
const HEAD_BYTES = 4_096;

/** Longer HTML is cut here: it is not meant for people. */
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

/** The main content of a page as Markdown. */
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

/** Elements into which frameworks render. */
const ROOT_IDS = /^(root|app|app-root|main-app|__next|__nuxt|___gatsby|svelte|react-root|application)$/i;

/**
 * A page with less text than this beside an empty root has not been rendered, and a root with less counts as
 * empty.
 */
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
    // Unknown encoding.
  }
  return decodeText(bytes);
}

import { Parser } from 'htmlparser2';

/** An element of a page. */
export interface PageElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: PageNode[];
}

/** An element or a text node. */
export type PageNode = PageElement | string;

/** More nodes than a long article has; further ones are dropped. */
const NODES_AT_MOST = 60_000;
/** Deeper nodes are attached to the last element within this depth. */
const LEVELS_AT_MOST = 200;

/**
 * Parsing stops when more elements are open: the parser's cost of each further one grows with their number.
 */
const OPEN_AT_MOST = 2_000;

/** Elements without readable content, which are dropped. */
const UNREAD = new Set(
  'script style template svg math iframe object embed canvas audio video noscript head select button input textarea dialog map link meta'.split(
    ' ',
  ),
);

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));

/** The metadata in the head of a page. */
interface PageHead {
  title: string;
  /** By name or property, in lower case; the first of each. */
  readonly meta: Map<string, string>;
}

export interface PageTree {
  readonly head: PageHead;
  /** Whether it has executable scripts. */
  readonly hasScripts: boolean;
  readonly body: PageElement;
}

/** Parses any HTML in one pass, in linear time and memory. */
export function pageTree(html: string): PageTree {
  const reader = new TreeReader();
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes),
      ontext: (text) => reader.text(text),
      onclosetag: (name) => reader.close(name),
    },
    { decodeEntities: true },
  );
  try {
    parser.end(html);
  } catch (error) {
    // The part parsed so far is the page.
    if (!(error instanceof TooDeep)) throw error;
  }
  return { head: reader.head, hasScripts: reader.hasScripts, body: reader.body };
}

class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

class TreeReader {
  readonly head: PageHead = { title: '', meta: new Map() };
  readonly body: PageElement = { name: 'body', attributes: {}, children: [] };
  hasScripts = false;
  private readonly path: PageElement[] = [this.body];
  /** Open elements beyond the depth limit. */
  private deeper = 0;
  /** Open elements without readable content. */
  private unread = 0;
  private nodes = 0;
  private inTitle = false;
  /** All open elements, kept or not. */
  private opened = 0;

  open(name: string, attributes: Record<string, string>): void {
    if (!VOID.has(name)) this.opened += 1;
    if (this.opened > OPEN_AT_MOST) throw new TooDeep();
    if (name === 'title' && this.head.title === '') this.inTitle = true;
    if (name === 'meta') this.addMeta(attributes);
    if (name === 'script' && !/json/i.test(attributes['type'] ?? '')) this.hasScripts = true;
    if (UNREAD.has(name)) {
      if (!VOID.has(name)) this.unread += 1;
      return;
    }
    if (this.unread > 0 || name === 'html' || name === 'body') return;
    this.nodes += 1;
    if (this.nodes > NODES_AT_MOST) return void (this.deeper += VOID.has(name) ? 0 : 1);
    if (this.path.length + this.deeper >= LEVELS_AT_MOST) return void (this.deeper += VOID.has(name) ? 0 : 1);
    const element: PageElement = { name, attributes, children: [] };
    this.path.at(-1)?.children.push(element);
    if (!VOID.has(name)) this.path.push(element);
  }

  text(text: string): void {
    if (this.inTitle) this.head.title = (this.head.title + text).slice(0, 1_000);
    if (this.unread > 0) return;
    this.nodes += 1;
    if (this.nodes <= NODES_AT_MOST) this.path.at(-1)?.children.push(text);
  }

  close(name: string): void {
    if (!VOID.has(name)) this.opened -= 1;
    if (name === 'title') this.inTitle = false;
    if (VOID.has(name) || name === 'html' || name === 'body') return;
    if (UNREAD.has(name)) {
      this.unread = Math.max(0, this.unread - 1);
      return;
    }
    if (this.unread > 0) return;
    if (this.deeper > 0) this.deeper -= 1;
    else if (this.path.length > 1 && this.path.at(-1)?.name === name) this.path.pop();
  }

  private addMeta(attributes: Record<string, string>): void {
    const name = (attributes['property'] ?? attributes['name'] ?? attributes['itemprop'])?.toLowerCase();
    const { content } = attributes;
    const { meta } = this.head;
    if (name !== undefined && content !== undefined && meta.size < 200 && !meta.has(name))
      meta.set(name, content.slice(0, 1_000));
  }
}

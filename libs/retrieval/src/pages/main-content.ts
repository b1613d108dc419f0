import { Surroundings, type Weight, type Weights, isHidden } from './boilerplate.js';
import type { PageElement, PageNode } from './page-tree.js';

/** A part is narrowed down to a child that has at least this share of its words. */
const NARROWS = 0.75;

/**
 * A block with a larger share of its letters in links, and no more letters in them than this, is nothing but
 * links.
 */
const LINKS_SHARE = 0.6;
const LINKS_LETTERS = 600;

/**
 * The main content of a page without boilerplate: its `main` or article, or else the narrowest part with most
 * of its words. Visits each node a few times.
 */
export function mainContent(body: PageElement): PageElement {
  const all = weigh(body, new Map());
  const cleaned = withoutBoilerplate(body, all.weights);
  const { weights } = weigh(cleaned, new Map());
  const named = marked(cleaned, weights);
  return withoutLinkBlocks(narrowest(named ?? cleaned, weights), weights);
}

type Weighing = Map<PageElement, Weight>;

function weigh(element: PageElement, weights: Weighing, isLinked = false): Weight & { weights: Weights } {
  let [letters, linked] = [0, 0];
  const inLink = isLinked || element.name === 'a';
  for (const child of element.children) {
    if (typeof child === 'string') {
      const { length } = child.trim();
      letters += length;
      if (inLink) linked += length;
    } else {
      const weight = weigh(child, weights, inLink);
      letters += weight.letters;
      linked += weight.linked;
    }
  }
  weights.set(element, { letters, linked });
  return { letters, linked, weights };
}

const lettersOf = (element: PageElement, weights: Weights): number => weights.get(element)?.letters ?? 0;

/** A copy without hidden elements and boilerplate. */
function withoutBoilerplate(body: PageElement, weights: Weights): PageElement {
  const around = new Surroundings(body, weights);
  const copy = (element: PageElement, inArticle: boolean): PageElement => {
    const isArticle = inArticle || element.name === 'article' || element.name === 'main';
    const children = element.children.flatMap((child): PageNode[] => {
      if (typeof child === 'string') return [child];
      return isHidden(child) || around.includes(child, isArticle) ? [] : [copy(child, isArticle)];
    });
    return { ...element, children };
  };
  return copy(body, false);
}

/** The part that the page itself marks as its main content. Several articles are not such a mark. */
function marked(body: PageElement, weights: Weights): PageElement | undefined {
  const found: PageElement[] = [];
  const look = (element: PageElement): void => {
    for (const child of element.children) {
      if (typeof child === 'string') continue;
      const { name, attributes } = child;
      const isMarked =
        name === 'main' ||
        name === 'article' ||
        attributes['role'] === 'main' ||
        attributes['itemprop'] === 'articleBody';
      if (isMarked) found.push(child);
      else look(child);
    }
  };
  look(body);
  const [first, ...others] = found.filter((element) => lettersOf(element, weights) > 0);
  if (!first || others.length > 0) return undefined;
  return lettersOf(first, weights) >= lettersOf(body, weights) * 0.3 ? first : undefined;
}

/** Descends while one child has most of the words of its parent outside links. */
function narrowest(from: PageElement, weights: Weights): PageElement {
  let at = from;
  for (;;) {
    const own = wordsOf(at, weights);
    const next = at.children.find(
      (child): child is PageElement =>
        typeof child !== 'string' && isContainer(child) && wordsOf(child, weights) >= own * NARROWS,
    );
    if (!next || own === 0) return at;
    // A heading beside the child is the title of the text.
    if (at.children.some((child) => typeof child !== 'string' && hasHeading(child, next))) return at;
    at = next;
  }
}

const CONTAINERS = new Set('div section article main td tr tbody table center span font body'.split(' '));
const isContainer = ({ name }: PageElement): boolean => CONTAINERS.has(name);

function hasHeading(element: PageElement, beside: PageElement): boolean {
  if (element === beside) return false;
  if (/^h[12]$/.test(element.name)) return true;
  return (
    element.name === 'header' &&
    element.children.some((child) => typeof child !== 'string' && hasHeading(child, beside))
  );
}

function wordsOf(element: PageElement, weights: Weights): number {
  const { letters, linked } = weights.get(element) ?? { letters: 0, linked: 0 };
  return letters - linked;
}

const LINK_BLOCKS = new Set(['ul', 'ol', 'div', 'section', 'table', 'p', 'dl']);

/** Elements that hold whole lines of links; a table cell may consist of a link or two. */
const LINE_HOLDERS = new Set(['body', 'div', 'section', 'main', 'article', 'center', 'font', 'td']);
const INLINE = new Set('a span b i em strong small font u sup sub abbr code img'.split(' '));
const LINKS_IN_A_CELL = 3;

/** A copy without blocks and lines that consist only of links, such as lists of other articles. */
function withoutLinkBlocks(root: PageElement, weights: Weights): PageElement {
  const whole = lettersOf(root, weights);
  const isLinks = ({ letters, linked }: Weight): boolean =>
    letters > 0 && letters <= LINKS_LETTERS && letters < whole * 0.4 && linked > letters * LINKS_SHARE;
  const copy = (element: PageElement): PageElement => {
    const lines = LINE_HOLDERS.has(element.name) ? linesOfLinks(element, weights) : [];
    const dropped = new Set(lines.filter(({ weight }) => isLinks(weight)).flatMap(({ nodes }) => nodes));
    const children = element.children.flatMap((child, index): PageNode[] => {
      if (dropped.has(index)) return [];
      if (typeof child === 'string') return [child];
      const isBlock = LINK_BLOCKS.has(child.name) && isLinks(weights.get(child) ?? { letters: 0, linked: 0 });
      return isBlock ? [] : [copy(child)];
    });
    return { ...element, children };
  };
  return copy(root);
}

interface Line {
  /** The indexes of its nodes within their element. */
  readonly nodes: readonly number[];
  readonly weight: Weight;
}

/** The lines between the blocks of an element, if it has several links. */
function linesOfLinks({ name, children }: PageElement, weights: Weights): Line[] {
  const lines: Line[] = [];
  const least = name === 'td' ? LINKS_IN_A_CELL : 2;
  let [nodes, letters, linked, links]: [number[], number, number, number] = [[], 0, 0, 0];
  const end = (): void => {
    if (links >= least) lines.push({ nodes, weight: { letters, linked } });
    [nodes, letters, linked, links] = [[], 0, 0, 0];
  };
  for (const [index, child] of children.entries()) {
    if (typeof child === 'string') letters += child.trim().length;
    else if (INLINE.has(child.name)) {
      const weight = weights.get(child) ?? { letters: 0, linked: 0 };
      letters += weight.letters;
      linked += weight.linked;
      if (weight.linked > 0) links += 1;
    } else {
      end();
      continue;
    }
    nodes.push(index);
  }
  end();
  return lines;
}

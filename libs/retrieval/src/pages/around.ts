import type { PageElement } from './page-tree.js';

/** Elements that stand around what a page is about, however much they hold, and those that may hold most of it. */
const ALWAYS_AROUND = new Set(['nav', 'footer', 'menu']);
const AROUND = new Set(['aside', 'form']);
const AROUND_ROLES =
  /^(navigation|banner|contentinfo|search|dialog|alertdialog|menu|menubar|complementary|toolbar)$/i;

const named = (words: string): RegExp => new RegExp(`(?:^|[\\s_-])(${words})(?=$|[\\s_-])`, 'i');

/** What authors call what stands around: names and classes, word by word. */
const AROUND_NAMES = named(
  'nav(?:bar|igation)?|menu|breadcrumbs?|banner|sidebar|side-?bar|footer|masthead|(?:page|site|global)-?header|share|sharing|social|related|recommend(?:ed|ations?)|newsletter|subscribe|subscription|promo(?:tion)?|advert(?:isement|s)?|ads?|sponsor(?:ed)?|popup|modal|overlay|paywall|skip(?:-?link)?|toolbar|pagination|pager|tags?|widget|comments?-form|reply-form|login|signup|search-?(?:box|form)|author-?(?:bio|box)|editsection|spinner|loading|loader|skeleton|legal|disclaimer|copyright',
);

/** Nothing else is called so. */
const NOTICE_NAMES = named('cookies?|consent|gdpr|onetrust|cookiebot');

const BUTTON_NAMES = named('btn|button|cta|read-?more|apply');

/** Asides that belong to what they stand beside. */
const NOTE_NAMES = named('note|tip|hint|info|warning|caution|danger|important|example|callout|admonition');

const HIDDEN_STYLE = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** A notice with less than this beside it may be what the page is about. */
const BESIDE_LETTERS = 100;

/** A part is the page's own with this share of all its words, whatever it is called. */
const MOST_OF_IT = 0.5;

/** A heading and so many letters make a beginning. */
const BEGINNING_LETTERS = 60;

/** Letters that are read, and those of them in links. */
export interface Weight {
  readonly letters: number;
  readonly linked: number;
}

export type Weights = ReadonlyMap<PageElement, Weight>;

export function isHidden({ attributes }: PageElement): boolean {
  const { hidden, style = '' } = attributes;
  return (
    hidden !== undefined || attributes['aria-hidden'] === 'true' || HIDDEN_STYLE.test(style.slice(0, 500))
  );
}

const namesOf = ({ attributes: { id = '', class: classes = '' } }: PageElement): string =>
  `${id} ${classes}`.slice(0, 500);

/** Tells the parts of one page that stand around what it is about. */
export class Surroundings {
  /** Words by which most of the page is called, and which say nothing here. */
  private readonly common: ReadonlySet<string>;
  private readonly all: number;

  constructor(
    body: PageElement,
    private readonly weights: Weights,
  ) {
    this.all = this.lettersOf(body);
    const letters = new Map<string, number>();
    const count = (element: PageElement, within: string | undefined): void => {
      for (const child of element.children) {
        if (typeof child === 'string') continue;
        const word = AROUND_NAMES.exec(namesOf(child))?.[1]?.toLowerCase();
        if (word !== undefined && word !== within) {
          const { letters: own = 0, linked = 0 } = weights.get(child) ?? {};
          letters.set(word, (letters.get(word) ?? 0) + own - linked);
        }
        count(child, word ?? within);
      }
    };
    count(body, undefined);
    const most = this.all * MOST_OF_IT;
    this.common = new Set([...letters].flatMap(([word, own]) => (own >= most ? [word] : [])));
  }

  includes(element: PageElement, inArticle: boolean): boolean {
    const { name } = element;
    if (ALWAYS_AROUND.has(name)) return true;
    const names = namesOf(element);
    if (name === 'a') return BUTTON_NAMES.test(names);
    const letters = this.lettersOf(element);
    if (NOTICE_NAMES.test(names)) return this.all - letters >= BESIDE_LETTERS;
    if (letters >= this.all * MOST_OF_IT) return false;
    if (AROUND_ROLES.test((element.attributes['role'] ?? '').slice(0, 100))) return true;
    if (name === 'aside') return !(inArticle && NOTE_NAMES.test(names));
    if (AROUND.has(name) || (name === 'header' && !inArticle)) return true;
    if (name === 'article' || name === 'main') return false;
    const word = AROUND_NAMES.exec(names)?.[1]?.toLowerCase();
    return word !== undefined && !this.common.has(word) && !this.isBeginning(element);
  }

  private isBeginning(element: PageElement): boolean {
    const { letters = 0, linked = 0 } = this.weights.get(element) ?? {};
    return letters - linked >= BEGINNING_LETTERS && hasTitle(element);
  }

  private lettersOf(element: PageElement): number {
    return this.weights.get(element)?.letters ?? 0;
  }
}

const hasTitle = ({ children }: PageElement): boolean =>
  children.some((child) => typeof child !== 'string' && (child.name === 'h1' || hasTitle(child)));

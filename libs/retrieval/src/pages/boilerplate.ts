import type { PageElement } from './page-tree.js';

/**
 * Elements that are boilerplate whatever their size, and elements that are unless they hold most of the page.
 */
const ALWAYS_BOILERPLATE = new Set(['nav', 'footer', 'menu']);
const BOILERPLATE = new Set(['aside', 'form']);
const BOILERPLATE_ROLES =
  /^(navigation|banner|contentinfo|search|dialog|alertdialog|menu|menubar|complementary|toolbar)$/i;

const named = (words: string): RegExp => new RegExp(`(?:^|[\\s_-])(${words})(?=$|[\\s_-])`, 'i');

/** Typical ids and classes of boilerplate, by word. */
const BOILERPLATE_NAMES = named(
  'nav(?:bar|igation)?|menu|breadcrumbs?|banner|sidebar|side-?bar|footer|masthead|(?:page|site|global)-?header|share|sharing|social|related|recommend(?:ed|ations?)|newsletter|subscribe|subscription|promo(?:tion)?|advert(?:isement|s)?|ads?|sponsor(?:ed)?|popup|modal|overlay|paywall|skip(?:-?link)?|toolbar|pagination|pager|tags?|widget|comments?-form|reply-form|login|signup|search-?(?:box|form)|author-?(?:bio|box)|editsection|spinner|loading|loader|skeleton|legal|disclaimer|copyright',
);

/** Names that are only used for notices. */
const NOTICE_NAMES = named('cookies?|consent|gdpr|onetrust|cookiebot');

const BUTTON_NAMES = named('btn|button|cta|read-?more|apply');

/** Asides that belong to the text beside them. */
const NOTE_NAMES = named('note|tip|hint|info|warning|caution|danger|important|example|callout|admonition');

const HIDDEN_STYLE = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** A notice with less text than this beside it may be the main content. */
const BESIDE_LETTERS = 100;

/** A part with this share of all words is content, whatever its name. */
const MOST_OF_IT = 0.5;

/** A heading and this number of letters count as the beginning of the text. */
const BEGINNING_LETTERS = 60;

/** The number of visible letters, and of those in links. */
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

/** Recognizes the boilerplate of one page. */
export class Surroundings {
  /** Words in the names of most of the page, which are therefore not significant. */
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
        const word = BOILERPLATE_NAMES.exec(namesOf(child))?.[1]?.toLowerCase();
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
    if (ALWAYS_BOILERPLATE.has(name)) return true;
    const names = namesOf(element);
    if (name === 'a') return BUTTON_NAMES.test(names);
    const letters = this.lettersOf(element);
    if (NOTICE_NAMES.test(names)) return this.all - letters >= BESIDE_LETTERS;
    if (letters >= this.all * MOST_OF_IT) return false;
    if (BOILERPLATE_ROLES.test((element.attributes['role'] ?? '').slice(0, 100))) return true;
    if (name === 'aside') return !(inArticle && NOTE_NAMES.test(names));
    if (BOILERPLATE.has(name) || (name === 'header' && !inArticle)) return true;
    if (name === 'article' || name === 'main') return false;
    const word = BOILERPLATE_NAMES.exec(names)?.[1]?.toLowerCase();
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

/** Scripts by their syllables; `glue` stands between words, `stop` ends a sentence. */
interface Script {
  readonly syllables: readonly string[];
  readonly glue: string;
  readonly comma: string;
  readonly stop: string;
}

const product = (first: string, second: string): string[] =>
  [...first].flatMap((a) => [...second].map((b) => a + b));
const alphabetic = (first: string, second: string): Script => ({
  syllables: product(first, second),
  glue: ' ',
  comma: ', ',
  stop: '. ',
});
const range = (from: number, count: number, step = 1): string[] =>
  Array.from({ length: count }, (_, index) => String.fromCodePoint(from + index * step));

const SCRIPTS = {
  en: alphabetic('bdfgklmnprstvw', 'aeiou'),
  de: alphabetic('bdfgklmnrstwz', 'aeiouäöü'),
  fr: alphabetic('bcdfglmnprstv', 'aeioué'),
  es: alphabetic('bcdfglmnñprst', 'aeioáó'),
  tr: alphabetic('bcçdgğklmnrsşt', 'aeıioöuü'),
  ru: alphabetic('бвгдзклмнпрст', 'аеиоуыя'),
  el: alphabetic('βγδθκλμνπρστ', 'αειουω'),
  he: alphabetic('בגדהזחטכלמנ', 'ויאעפצקרש'),
  ar: { ...alphabetic('بتجحدرسعفقكل', 'اويمنه'), comma: '، ' },
  hi: { ...alphabetic('कगचजटडतदनपबमयरलस', 'ािीुेो'), stop: '। ' },
  ko: { ...alphabetic('', ''), syllables: range(0xac00, 300, 37) },
  zh: { syllables: range(0x4e00, 900, 19), glue: '', comma: '，', stop: '。' },
  ja: { syllables: [...range(0x3042, 70), ...range(0x4e10, 300, 23)], glue: '', comma: '、', stop: '。' },
  th: { syllables: product('กขคจชดตทนปพมยรลสห', 'ะาำเแโ'), glue: '', comma: ' ', stop: ' ' },
} as const satisfies Record<string, Script>;

export type Language = keyof typeof SCRIPTS;

/** Writes the texts of one page, deterministically, and records which of them are main content. */
export class PageWriter {
  /** The main content and the boilerplate. */
  readonly main: string[] = [];
  readonly noise: string[] = [];
  private readonly script: Script;
  private state: number;

  constructor(
    name: string,
    readonly language: Language,
  ) {
    this.script = SCRIPTS[language];
    this.state = [...name].reduce(
      (hash, mark) => (hash * 31 + (mark.codePointAt(0) ?? 0)) >>> 0,
      2_166_136_261,
    );
  }

  /** A sentence of the main content. */
  s(words = this.below(8) + 9): string {
    return this.kept(this.main, this.sentence(words));
  }

  /** Words of the main content, without a full stop. */
  w(words = 3): string {
    return this.kept(this.main, this.words(words));
  }

  /** Several sentences of the main content. */
  t(sentences = 4): string {
    return Array.from({ length: sentences }, () => this.s()).join('');
  }

  p(sentences = 4): string {
    return `<p>${this.t(sentences)}</p>`;
  }

  ps(paragraphs: number, sentences = 4): string {
    return Array.from({ length: paragraphs }, () => this.p(sentences)).join('\n');
  }

  /** Words of boilerplate. */
  n(words = 2): string {
    return this.kept(this.noise, this.words(words));
  }

  /** A sentence of boilerplate. */
  ns(words = this.below(6) + 7): string {
    return this.kept(this.noise, this.sentence(words));
  }

  /** Links to other pages. */
  links(count: number, tag = 'li'): string {
    return Array.from(
      { length: count },
      () => `<${tag}><a href="/${this.below(9_999)}">${this.n(2)}</a></${tag}>`,
    ).join('');
  }

  /** Neither: titles, names and dates, which may be extracted or not. */
  x(words = 3): string {
    return this.words(words);
  }

  /** Repeats a part. */
  each(count: number, make: (index: number) => string): string {
    return Array.from({ length: count }, (_, index) => make(index)).join('\n');
  }

  below(bound: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 4_294_967_296) * bound);
  }

  private kept(list: string[], text: string): string {
    list.push(text);
    return text;
  }

  private word(): string {
    const { syllables } = this.script;
    return Array.from(
      { length: 2 + this.below(3) },
      () => syllables[this.below(syllables.length)] ?? '',
    ).join('');
  }

  private words(count: number): string {
    return Array.from({ length: count }, () => this.word()).join(this.script.glue);
  }

  private sentence(words: number): string {
    const half = Math.ceil(words / 2);
    return this.words(half) + this.script.comma + this.words(words - half) + this.script.stop;
  }
}

/** Generates the HTML of a page with one structure. */
export type Structure = (w: PageWriter) => string;
export type Structures = Readonly<Record<string, Structure>>;

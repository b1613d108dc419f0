import type { Random } from '../random.js';

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const ESCAPES: { readonly [letter: string]: string } = {
  d: DIGITS,
  w: `${LOWER}${LOWER.toUpperCase()}${DIGITS}_`,
  s: ' ',
  D: LOWER,
  W: '-',
  S: LOWER,
  n: '\n',
  t: '\t',
};
const PRINTABLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('');
/** Repeats given to an open quantifier such as `*` or `{2,}`. */
const OPEN_REPEATS = 3;

/**
 * A string that matches a regular expression of literals, classes, groups, alternatives and quantifiers.
 * Lookarounds and back-references are not supported and become empty strings.
 */
export function samplePattern(pattern: string, random: Random): string {
  return new PatternReader(pattern, random).alternatives();
}

class PatternReader {
  private at = 0;

  constructor(
    readonly pattern: string,
    readonly random: Random,
  ) {}

  alternatives(): string {
    const options = [this.sequence()];
    while (this.take('|')) options.push(this.sequence());
    return this.random.pick(options);
  }

  private sequence(): string {
    let text = '';
    while (this.at < this.pattern.length && !'|)'.includes(this.peek())) {
      const start = this.at;
      const first = this.atom();
      const end = this.at;
      const [low, high] = this.quantifier();
      const after = this.at;
      const repeats = this.random.whole(low, high);
      if (repeats > 0) text += first;
      for (let i = 1; i < repeats; i++) {
        this.at = start;
        text += this.atom();
      }
      this.at = Math.max(after, end);
    }
    return text;
  }

  private atom(): string {
    const char = this.next();
    switch (char) {
      case '^':
      case '$':
        return '';
      case '.':
        return this.random.pick([...LOWER]);
      case '(':
        return this.group();
      case '[':
        return this.class();
      case '\\':
        return this.escape();
      default:
        return char;
    }
  }

  private group(): string {
    const isLook = /^\?<?[=!]/.test(this.pattern.slice(this.at));
    const mark = /^\?(?:<?[=!:]|<\w+>)/.exec(this.pattern.slice(this.at));
    this.at += mark?.[0].length ?? 0;
    const text = this.alternatives();
    this.take(')');
    return isLook ? '' : text;
  }

  private escape(): string {
    const letter = this.next();
    if (letter === 'b' || letter === 'B' || /\d/.test(letter)) return '';
    return this.random.pick([...(ESCAPES[letter] ?? letter)]);
  }

  private class(): string {
    const isNegated = this.take('^');
    let chars = '';
    while (this.at < this.pattern.length && this.peek() !== ']') {
      const char = this.next();
      if (char === '\\') {
        const letter = this.next();
        chars += ESCAPES[letter] ?? letter;
      } else if (this.peek() === '-' && this.pattern[this.at + 1] !== ']') {
        this.at++;
        chars += range(char, this.next());
      } else chars += char;
    }
    this.take(']');
    const allowed = isNegated ? [...PRINTABLE].filter((char) => !chars.includes(char)) : [...chars];
    return allowed.length === 0 ? '' : this.random.pick(allowed);
  }

  private quantifier(): [number, number] {
    const match = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.pattern.slice(this.at, this.at + 24));
    if (match === null) return [1, 1];
    this.at += match[0].length;
    if (match[1] === undefined) return quantifierOf(match[0].charAt(0));
    const low = Number(match[1]);
    if (match[2] === '') return [low, low];
    return [low, match[3] === '' ? low + OPEN_REPEATS : Number(match[3])];
  }

  private peek(): string {
    return this.pattern.charAt(this.at);
  }

  private next(): string {
    return this.pattern.charAt(this.at++);
  }

  private take(char: string): boolean {
    if (this.peek() !== char) return false;
    this.at++;
    return true;
  }
}

function quantifierOf(mark: string): [number, number] {
  if (mark === '?') return [0, 1];
  return mark === '+' ? [1, OPEN_REPEATS] : [0, OPEN_REPEATS];
}

function range(from: string, to: string): string {
  const [low, high] = [from.charCodeAt(0), to.charCodeAt(0)];
  return Array.from({ length: Math.max(0, high - low + 1) }, (_, i) => String.fromCharCode(low + i)).join('');
}

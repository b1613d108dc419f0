import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;

/** A text of so many characters is parsed at once. */
const SMALL = 262_144;
/** Strings up to this length are parsed with the rest; since members are bounded, all of them together are small. */
const SHORT_STRING = 256;
/** Characters that are looked at before others get their turn. */
const SLICE = 131_072;
/** Names are never sliced. */
const NAME_AT_MOST = 65_536;

/**
 * What JSON.parse makes of a text, without holding the event loop: long strings are taken out, decoded in slices, and put
 * where they belong. Throws SyntaxError as JSON.parse does.
 */
export async function parseJson(text: string): Promise<unknown> {
  return text.length <= SMALL ? JSON.parse(text) : new SlicedParser(text).parse();
}

class SlicedParser {
  /** Begins what stands for a long string; nobody can send it. */
  private readonly mark = `${randomUUID()}:`;
  private readonly strings: string[] = [];
  private readonly kept: string[] = [];
  private untilTurn = SLICE;

  constructor(private readonly text: string) {}

  async parse(): Promise<unknown> {
    const { text } = this;
    let keptTo = 0;
    for (let at = text.indexOf('"'); at !== -1;) {
      const end = endNear(text, at + 1, at + 1 + SHORT_STRING);
      if (end === -1) {
        this.kept.push(text.slice(keptTo, at));
        keptTo = await this.takeString(at + 1);
      }
      const next = end === -1 ? keptTo : end;
      await this.pay(next - at);
      at = text.indexOf('"', next);
    }
    this.kept.push(text.slice(keptTo));
    return this.restore(JSON.parse(this.kept.join('')));
  }

  /** Decodes the long string whose content begins at `start`. Returns where it has ended. */
  private async takeString(start: number): Promise<number> {
    const pieces: string[] = [];
    let at = start;
    for (;;) {
      const quote = endNear(this.text, at, at + SLICE);
      const end =
        quote === -1 ? wholeEscapes(this.text, at, Math.min(at + SLICE, this.text.length)) : quote - 1;
      if (end === at && quote === -1) throw new SyntaxError('a string does not end');
      pieces.push(JSON.parse(`"${this.text.slice(at, end)}"`) as string);
      await this.pay(end - at);
      at = end;
      if (quote !== -1) break;
    }
    const isName = /^\s*:/.test(this.text.slice(at + 1, at + 64)) || this.text.charCodeAt(at + 1) === COLON;
    if (isName && at - start > NAME_AT_MOST) throw new SyntaxError('a name is too long');
    if (isName) this.kept.push(this.text.slice(start - 1, at + 1));
    else {
      this.kept.push(`"${this.mark}${this.strings.length}"`);
      this.strings.push(pieces.join(''));
    }
    return at + 1;
  }

  /** Lets others have their turn once enough was looked at. */
  private async pay(characters: number): Promise<void> {
    this.untilTurn -= characters;
    if (this.untilTurn > 0) return;
    this.untilTurn = SLICE;
    await turn();
  }

  /** Puts long strings where their marks are; changes objects and lists in place. */
  private restore(value: unknown): unknown {
    if (typeof value === 'string' && value.startsWith(this.mark))
      return this.strings[Number(value.slice(this.mark.length))];
    if (typeof value !== 'object' || value === null) return value;
    const fields = value as Record<string, unknown>;
    for (const name of Object.keys(fields)) {
      const restored = this.restore(fields[name]);
      if (restored !== fields[name])
        Object.defineProperty(fields, name, {
          value: restored,
          enumerable: true,
          configurable: true,
          writable: true,
        });
    }
    return value;
  }
}

/** The index behind the quote that ends the string whose content goes on at `start`; -1 when it is not before `limit`. */
function endNear(text: string, start: number, limit: number): number {
  const most = Math.min(text.length, limit);
  for (let at = start; at < most; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  return -1;
}

/** The largest index up to `end` at which no escape is cut; at `start` none is. */
function wholeEscapes(text: string, start: number, end: number): number {
  for (let back = 1; back <= 6 && end - back >= start; back += 1) {
    const at = end - back;
    if (text.charCodeAt(at) !== BACKSLASH || !beginsEscape(text, start, at)) continue;
    const length = text.charCodeAt(at + 1) === LOWER_U ? 6 : 2;
    return at + length > end ? at : end;
  }
  return end;
}

/** Whether a backslash is not itself escaped: an even number of them stands before it. */
function beginsEscape(text: string, start: number, at: number): boolean {
  let before = at;
  while (before > start && text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
}

import { setImmediate as turn } from 'node:timers/promises';
import { unescapedJson } from '@svc/runtime';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  stringEnd,
} from './json-text.js';

/** Characters read before yielding to the event loop. */
const SLICE = 262_144;

/** Deeper than the traces of calls on Ethereum, which nest up to 1,024 calls, each in a list of an object. */
const LEVELS = 4_096;

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** A string with any of these needs a closer look. */
const UNUSUAL = /[\\\p{Cc}]/u;

/**
 * Checks that a text is valid JSON without building its values, in slices. Its time is linear in the text
 * whatever it contains, while a parser pays for each list and object. Throws SyntaxError.
 */
export async function checkJson(text: string): Promise<void> {
  const check = new JsonCheck(text);
  while (!check.reads(SLICE)) await turn();
}

/** What may come next. */
type Next = 'value' | 'value or ]' | 'name' | 'name or }' | 'comma or end';

class JsonCheck {
  private at = 0;
  private next: Next = 'value';
  /** The closing brackets of the open lists and objects. */
  private readonly closing: number[] = [];

  constructor(private readonly text: string) {}

  /** Reads at least this number of characters, if there are more. Whether it has reached the end. */
  reads(characters: number): boolean {
    const { text } = this;
    const until = this.at + characters;
    for (this.skipSpace(); this.at < text.length; this.skipSpace()) {
      if (this.at >= until) return false;
      this.readToken(text.charCodeAt(this.at));
    }
    if (this.closing.length > 0 || this.next !== 'comma or end') throw invalid();
    return true;
  }

  private readToken(code: number): void {
    const { next } = this;
    if (next === 'comma or end') {
      if (code === COMMA && this.closing.length > 0) {
        this.at += 1;
        this.next = this.closing.at(-1) === CLOSE_BRACE ? 'name' : 'value';
      } else this.close(code);
    } else if (code === CLOSE_BRACE && next === 'name or }') this.close(code);
    else if (code === CLOSE_BRACKET && next === 'value or ]') this.close(code);
    else if (next === 'name' || next === 'name or }') this.readName(code);
    else this.readValue(code);
  }

  private close(code: number): void {
    if (this.closing.pop() !== code) throw invalid();
    this.at += 1;
    this.next = 'comma or end';
  }

  private readName(code: number): void {
    if (code !== QUOTE) throw invalid();
    this.readString();
    this.skipSpace();
    if (this.text.charCodeAt(this.at) !== COLON) throw invalid();
    this.at += 1;
    this.next = 'value';
  }

  private readValue(code: number): void {
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (this.closing.length === LEVELS) throw new SyntaxError('the JSON has too many levels');
      this.closing.push(code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET);
      this.next = code === OPEN_BRACE ? 'name or }' : 'value or ]';
      this.at += 1;
      return;
    }
    this.next = 'comma or end';
    if (code === QUOTE) {
      this.readString();
      return;
    }
    SCALAR.lastIndex = this.at;
    if (!SCALAR.test(this.text)) throw invalid();
    this.at = SCALAR.lastIndex;
  }

  private readString(): void {
    const end = stringEnd(this.text, this.at);
    const characters = this.text.slice(this.at + 1, end - 1);
    if (UNUSUAL.test(characters)) unescapedJson(characters);
    this.at = end;
  }

  /** Past the four characters that JSON allows between its tokens. */
  private skipSpace(): void {
    const { text } = this;
    let { at } = this;
    for (let code = text.charCodeAt(at); isSpace(code); code = text.charCodeAt(at)) at += 1;
    this.at = at;
  }
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

const invalid = (): SyntaxError => new SyntaxError('the text is not valid JSON');

import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import { invalidRequest } from '@svc/contracts/problems';
import { unescapedJson } from './json-reader.js';
import { JsonText } from './json-text.js';
import { LongStrings } from './long-strings.js';

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const SPACE = 0x20;

/** A text of at most this size is parsed at once. */
const SMALL_BYTES = 262_144;
/** Strings up to this length stay in the text. */
const SHORT_STRING = 96;
/**
 * Limit of a text without its long strings: names, numbers, spaces, and as many short strings as there may
 * be.
 */
const REST_LIMIT_BYTES = 4_194_304;
/** Bytes scanned before yielding to the event loop. */
const SLICE = 65_536;

export interface ReadJson {
  readonly value: unknown;
  readonly json: JsonText;
}

/**
 * Parses JSON bytes like JSON.parse, and keeps their text, without blocking the event loop: long strings are
 * taken out, decoded in slices, and put back in place. Short texts are parsed without a promise. Throws
 * SyntaxError like JSON.parse, and for invalid UTF-8. Rejects with INVALID_REQUEST if the text beside its
 * long strings is too large.
 */
export function readJson(bytes: Buffer): ReadJson | Promise<ReadJson> {
  if (!isUtf8(bytes)) throw new SyntaxError('the text is not UTF-8');
  if (bytes.length > SMALL_BYTES) return new SlicedReader(bytes).read();
  const text = bytes.toString();
  return { value: JSON.parse(text), json: new JsonText(text) };
}

class SlicedReader {
  /** The decoded long strings, in the order in which they are kept. */
  private readonly values: string[] = [];
  private readonly rest: string[] = [];
  private restBytes = 0;
  /** Bytes before this offset are in `rest` or were taken out. */
  private restTo = 0;
  private untilTurn = SLICE;

  private readonly strings = new LongStrings();

  constructor(private readonly bytes: Buffer) {}

  async read(): Promise<ReadJson> {
    const { bytes, strings } = this;
    await turn();
    for (let at = bytes.indexOf(QUOTE); at !== -1;) {
      this.bound(at);
      const { end, isEnd } = scan(bytes, at + 1, at + 1 + SHORT_STRING);
      const next = isEnd ? end + 1 : await this.takeString(at + 1);
      await this.pay(next - at);
      at = bytes.indexOf(QUOTE, next);
    }
    this.keepTo(bytes.length);
    const text = this.rest.join('');
    await turn();
    const parsed: unknown = JSON.parse(text);
    await turn();
    const value = this.restore(parsed);
    await turn();
    return { value, json: new JsonText(text, strings) };
  }

  /**
   * Reads the long string whose content begins at `start`, and returns where it ends. A member name stays in
   * the rest.
   */
  private async takeString(start: number): Promise<number> {
    const { bytes } = this;
    let at = start;
    let hasEscapes = false;
    for (let isEnd = false; !isEnd;) {
      if (at >= bytes.length) throw new SyntaxError('a string does not end');
      const scanned = scan(bytes, at, at + SLICE);
      hasEscapes ||= scanned.hasEscapes;
      isEnd = scanned.isEnd;
      await this.pay(scanned.end - at);
      at = scanned.end;
    }
    if (isName(bytes, at + 1)) {
      this.bound(at);
      return at + 1;
    }
    this.keepTo(start);
    this.rest.push(this.strings.keep([bytes.subarray(start, at)]));
    this.restTo = at;
    this.values.push(hasEscapes ? await this.unescaped(start, at) : bytes.toString('utf8', start, at));
    return at + 1;
  }

  private async unescaped(start: number, end: number): Promise<string> {
    const pieces: string[] = [];
    for (let at = start; at < end;) {
      const whole = at + SLICE < end ? wholeCharacters(this.bytes, at, at + SLICE) : end;
      pieces.push(unescapedJson(this.bytes.toString('utf8', at, whole)));
      await this.pay(whole - at);
      at = whole;
    }
    return pieces.join('');
  }

  private keepTo(end: number): void {
    this.bound(end);
    this.rest.push(this.bytes.toString('utf8', this.restTo, end));
    this.restBytes += end - this.restTo;
  }

  private bound(end: number): void {
    if (this.restBytes + end - this.restTo > REST_LIMIT_BYTES) throw tooMuch();
  }

  /** Yields to the event loop once enough bytes were scanned. */
  private async pay(bytes: number): Promise<void> {
    this.untilTurn -= bytes;
    if (this.untilTurn > 0) return;
    this.untilTurn = SLICE;
    await turn();
  }

  /** Puts long strings back in place; modifies objects and lists. */
  private restore(value: unknown): unknown {
    if (typeof value === 'string') {
      const place = this.strings.placeOf(value);
      return place === undefined ? value : this.values[place];
    }
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

function tooMuch(): Error {
  const message = `must have at most ${REST_LIMIT_BYTES} bytes beside the texts of more than ${SHORT_STRING}`;
  return invalidRequest([{ code: 'too_big', path: [], message }]);
}

interface Scanned {
  /** The offset of the closing quote, or the end of the scanned part, which never cuts an escape. */
  readonly end: number;
  readonly isEnd: boolean;
  readonly hasEscapes: boolean;
}

/**
 * Scans the content of a string from `start` to about `limit`. Throws SyntaxError on bytes that a string may
 * not contain.
 */
function scan(bytes: Buffer, start: number, limit: number): Scanned {
  const most = Math.min(bytes.length, limit);
  let hasEscapes = false;
  let at = start;
  for (; at < most; at += 1) {
    const code = bytes[at] ?? 0;
    if (code === QUOTE) return { end: at, isEnd: true, hasEscapes };
    if (code < SPACE) throw new SyntaxError('a control character in a string');
    if (code !== BACKSLASH) continue;
    hasEscapes = true;
    at += 1;
  }
  return { end: at, isEnd: false, hasEscapes };
}

/** Whether the string that ends before `at` is the name of a member. */
function isName(bytes: Buffer, at: number): boolean {
  let next = at;
  while (isSpace(bytes[next]) && next - at < REST_LIMIT_BYTES) next += 1;
  return bytes[next] === COLON;
}

const isSpace = (code: number | undefined): boolean =>
  code === SPACE || code === 0x0a || code === 0x0d || code === 0x09;

/** The largest index up to `end` that cuts neither an escape nor a character; at least `start`. */
function wholeCharacters(bytes: Buffer, start: number, end: number): number {
  let whole = end;
  while (whole > start && ((bytes[whole] ?? 0) & 0xc0) === 0x80 && end - whole < 4) whole -= 1;
  for (let back = 1; back <= 6 && whole - back >= start; back += 1) {
    const at = whole - back;
    if (bytes[at] !== BACKSLASH || !beginsEscape(bytes, start, at)) continue;
    const length = bytes[at + 1] === LOWER_U ? 6 : 2;
    return at + length > whole ? at : whole;
  }
  return whole;
}

/** Whether a backslash is not itself escaped: an even number of backslashes precedes it. */
function beginsEscape(bytes: Buffer, start: number, at: number): boolean {
  let before = at;
  while (before > start && bytes[before - 1] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
}

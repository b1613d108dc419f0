const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Longer strings are searched by native code, which is expensive to call but fast over distance. */
const SHORT_STRING = 48;

export interface JsonLimits {
  readonly levels: number;
  readonly members: number;
}

/**
 * Checks the bytes of a JSON text as they arrive, before parsing, since a parser pays for every level and
 * member. Takes time linear in the bytes. Invalid JSON is left for the parser to reject.
 */
export class JsonBounds {
  private depth = 0;
  /** The members of all objects and lists so far; an empty one counts as one. */
  private members = 0;
  private inString = false;
  private escaped = false;

  constructor(private readonly limits: JsonLimits) {}

  get memberCount(): number {
    return this.members;
  }

  /** The exceeded limit, if any. */
  exceededBy(bytes: Buffer): keyof JsonLimits | undefined {
    const { length } = bytes;
    let at = this.inString ? this.afterString(bytes, 0) : 0;
    for (; at < length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.inString = true;
        at = this.afterString(bytes, at + 1) - 1;
      } else if (byte === COMMA) this.members += 1;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.depth += 1;
        this.members += 1;
        if (this.depth > this.limits.levels) return 'levels';
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.depth -= 1;
    }
    return this.members > this.limits.members ? 'members' : undefined;
  }

  /**
   * The offset after the closing quote of a string, or the end of the bytes if the quote is still to come.
   */
  private afterString(bytes: Buffer, start: number): number {
    let { escaped } = this;
    this.escaped = false;
    const near = Math.min(bytes.length, start + SHORT_STRING);
    let at = start;
    for (; at < near; at += 1) {
      const byte = bytes[at];
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) return this.end(at);
    }
    while (at < bytes.length) {
      const quote = bytes.indexOf(QUOTE, at);
      const stop = quote === -1 ? bytes.length : quote;
      const slashes = backslashesBefore(bytes, stop, at);
      // An escape that began before `at` makes the first backslash, or the quote itself, a plain character.
      const wasEscaped = ((slashes + (escaped && slashes === stop - at ? 1 : 0)) & 1) === 1;
      if (quote === -1) {
        escaped = wasEscaped;
        break;
      }
      if (!wasEscaped) return this.end(quote);
      escaped = false;
      at = quote + 1;
    }
    this.escaped = escaped;
    return bytes.length;
  }

  private end(quote: number): number {
    this.inString = false;
    return quote + 1;
  }
}

/** The number of backslashes right before `stop`, looking back no further than `from`. */
function backslashesBefore(bytes: Buffer, stop: number, from: number): number {
  let at = stop;
  while (at > from && bytes[at - 1] === BACKSLASH) at -= 1;
  return stop - at;
}

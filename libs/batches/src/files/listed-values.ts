import { Problem, invalidRequest } from '@svc/contracts/problems';
import { RESPONSE_JSON_LIMITS, boundedJson } from '@svc/runtime';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The depths inside of the document, its list, and a value of the list. */
const IN_DOCUMENT = 1;
const IN_LIST = 2;
const IN_VALUE = 3;

/** The most bytes of a document beside the values of its list. */
const REST_BYTES = 1_048_576;

/** The most bytes of a name with the spaces behind it. */
const NAME_BYTES = 256;

/** What stands for a value in the rest of the document. */
const STAND_IN = Buffer.from('0');

/**
 * Splits a JSON document `{"NAME": [{…}, {…}]}` into the objects of its list as it comes. The form of all
 * else is checked at the end. At most one object is in memory.
 */
export class ListedValues {
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** Whether the list that is open is the wanted one. */
  private isListed = false;
  private parts: Buffer[] = [];
  private bytes = 0;
  private rest: Buffer[] = [];
  private restBytes = 0;
  /** The end of the rest, as far as a name may reach. */
  private tail = '';
  private count = 0;

  constructor(
    private readonly name: string,
    private readonly limitBytes: number,
    private readonly onValue: (value: Buffer) => void,
  ) {}

  /** Throws INVALID_REQUEST if a value or the rest is too long. */
  add(part: Buffer): void {
    let start = 0;
    for (let at = 0; at < part.length; at += 1) {
      const code = part[at];
      if (this.isInString) this.inString(code);
      else if (code === QUOTE) this.isInString = true;
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (this.opens(code, part.subarray(start, at))) start = at;
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (this.closes(part.subarray(start, at + 1))) start = at + 1;
      }
    }
    this.keep(part.subarray(start));
  }

  /** The document has no more parts. Throws INVALID_JSON, INVALID_REQUEST. */
  end(): void {
    let document: unknown;
    try {
      document = boundedJson(Buffer.concat([...this.rest, ...this.parts]).toString(), RESPONSE_JSON_LIMITS);
    } catch (error) {
      throw new Problem('INVALID_JSON', { cause: error });
    }
    const list = (document as Readonly<Record<string, unknown>> | null)?.[this.name];
    const isWhole = Array.isArray(list) && list.length === this.count && list.every((each) => each === 0);
    if (!isWhole || this.count === 0) throw this.fault('must be a list of at least one object');
  }

  private inString(code: number | undefined): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (code === BACKSLASH) this.isEscaped = true;
    else if (code === QUOTE) this.isInString = false;
  }

  /** Enters an object or a list after this text. Returns whether that is kept. */
  private opens(code: number, before: Buffer): boolean {
    const { depth } = this;
    this.depth += 1;
    const isValue = this.isListed && depth === IN_LIST && code === OPEN_BRACE;
    if (depth !== IN_DOCUMENT && !isValue) {
      // A list of lists is not the wanted one.
      if (depth === IN_LIST) this.isListed = false;
      return false;
    }
    this.keepRest(before);
    if (depth === IN_DOCUMENT) this.isListed = code === OPEN_BRACKET && this.isNamed();
    return true;
  }

  /** Leaves an object or a list, which ends this text. Returns whether that is kept. */
  private closes(text: Buffer): boolean {
    this.depth -= 1;
    if (!this.isListed || this.depth !== IN_LIST) return false;
    this.keepValue(text);
    const value = Buffer.concat(this.parts);
    this.parts = [];
    this.bytes = 0;
    this.count += 1;
    this.keepRest(STAND_IN);
    this.onValue(value);
    return true;
  }

  /** Whether the last name in the document is that of the list. */
  private isNamed(): boolean {
    const before = this.tail.trimEnd();
    return before.endsWith(':') && before.slice(0, -1).trimEnd().endsWith(`"${this.name}"`);
  }

  private keep(part: Buffer): void {
    if (this.isListed && this.depth >= IN_VALUE) this.keepValue(part);
    else this.keepRest(part);
  }

  private keepValue(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes > this.limitBytes)
      throw this.fault(`must be objects of at most ${this.limitBytes} bytes`, this.count);
    this.parts.push(part);
  }

  private keepRest(part: Buffer): void {
    if (part.length === 0) return;
    this.restBytes += part.length;
    if (this.restBytes > REST_BYTES) throw this.fault('must not be surrounded by so much else');
    this.rest.push(part);
    this.tail = (this.tail + part.toString('latin1', Math.max(0, part.length - NAME_BYTES))).slice(
      -NAME_BYTES,
    );
  }

  private fault(message: string, at?: number): Problem {
    return invalidRequest([
      { code: 'custom', path: at === undefined ? [this.name] : [this.name, at], message },
    ]);
  }
}

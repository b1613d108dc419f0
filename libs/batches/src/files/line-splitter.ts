const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const NOTHING = Buffer.alloc(0);

/** A line that is not empty. */
export interface FileLine {
  /** Counted from 1, with the empty lines. */
  readonly number: number;
  /** Without its end; undefined if it is too long, and then its bytes were not kept. */
  readonly bytes: Buffer | undefined;
}

/** Splits a text into its lines, wherever its parts begin. At most one line is in memory. */
export class LineSplitter {
  private number = 1;
  private parts: Buffer[] = [];
  private bytes = 0;
  private isBlank = true;
  private isAtStart = true;
  /** How many bytes of a byte order mark the text began with. */
  private marked = 0;

  /** @param limitBytes the most bytes of a line that are kept; with 0 the lines are only counted */
  constructor(
    private readonly limitBytes: number,
    private readonly onLine: (line: FileLine) => void,
  ) {}

  add(part: Buffer): void {
    const text = this.isAtStart ? this.afterMark(part) : part;
    let at = 0;
    for (let end = text.indexOf(LF, at); end !== -1; end = text.indexOf(LF, at)) {
      this.keep(text.subarray(at, end));
      this.endLine();
      at = end + 1;
    }
    this.keep(text.subarray(at));
  }

  /** The text has no more parts. */
  end(): void {
    if (this.isAtStart) this.keep(BYTE_ORDER_MARK.subarray(0, this.marked));
    this.endLine();
  }

  private afterMark(part: Buffer): Buffer {
    let at = 0;
    while (at < part.length && this.marked < BYTE_ORDER_MARK.length) {
      if (part[at] !== BYTE_ORDER_MARK[this.marked]) {
        this.isAtStart = false;
        this.keep(BYTE_ORDER_MARK.subarray(0, this.marked));
        return part.subarray(at);
      }
      at += 1;
      this.marked += 1;
    }
    if (this.marked < BYTE_ORDER_MARK.length) return NOTHING;
    this.isAtStart = false;
    return part.subarray(at);
  }

  private keep(part: Buffer): void {
    this.bytes += part.length;
    this.isBlank &&= isBlank(part);
    if (this.bytes > this.limitBytes) this.parts = [];
    else if (part.length > 0) this.parts.push(part);
  }

  private endLine(): void {
    const { number, parts } = this;
    const isLong = this.bytes > this.limitBytes;
    const isEmpty = this.isBlank;
    this.number += 1;
    this.parts = [];
    this.bytes = 0;
    this.isBlank = true;
    if (isEmpty) return;
    const whole = isLong ? undefined : Buffer.concat(parts);
    this.onLine({ number, bytes: whole?.at(-1) === CR ? whole.subarray(0, -1) : whole });
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const code of bytes) if (code !== SPACE && code !== TAB && code !== CR) return false;
  return true;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line that is not empty. */
export interface FileLine {
  /** Counted from 1, with the empty lines. */
  readonly number: number;
  /** Without its end; undefined if it is too long, and then its bytes were not kept. */
  readonly bytes: Buffer | undefined;
}

/** The lines of a text, of which at most one is in memory. */
export async function* linesOf(content: AsyncIterable<Buffer>, limitBytes: number): AsyncGenerator<FileLine> {
  const line = new OpenLine(limitBytes);
  let isFirst = true;
  for await (const part of content) {
    let at = isFirst && part.subarray(0, 3).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    isFirst = false;
    for (let end = part.indexOf(LF, at); end !== -1; end = part.indexOf(LF, at)) {
      line.add(part.subarray(at, end));
      const whole = line.end();
      if (whole) yield whole;
      at = end + 1;
    }
    line.add(part.subarray(at));
  }
  const last = line.end();
  if (last) yield last;
}

/** Passes content on, and counts its lines as `linesOf` does. */
export class LineCount {
  lines = 0;
  private isEmpty = true;

  async *of(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let isFirst = true;
    for await (const part of content) {
      this.add(isFirst && part.subarray(0, 3).equals(BYTE_ORDER_MARK) ? part.subarray(3) : part);
      isFirst = false;
      yield part;
    }
    this.end();
  }

  private add(part: Buffer): void {
    let at = 0;
    for (let end = part.indexOf(LF, at); end !== -1; end = part.indexOf(LF, at)) {
      this.isEmpty &&= isBlank(part.subarray(at, end));
      this.end();
      at = end + 1;
    }
    this.isEmpty &&= isBlank(part.subarray(at));
  }

  private end(): void {
    if (!this.isEmpty) this.lines += 1;
    this.isEmpty = true;
  }
}

class OpenLine {
  private number = 1;
  private parts: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly limitBytes: number) {}

  add(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes > this.limitBytes) this.parts = [];
    else if (part.length > 0) this.parts.push(part);
  }

  /** Ends the line; undefined if it was empty. */
  end(): FileLine | undefined {
    const { number, bytes, parts } = this;
    this.number += 1;
    this.parts = [];
    this.bytes = 0;
    if (bytes > this.limitBytes) return { number, bytes: undefined };
    const whole = Buffer.concat(parts);
    if (isBlank(whole)) return undefined;
    return { number, bytes: whole.at(-1) === CR ? whole.subarray(0, -1) : whole };
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const code of bytes) if (code !== SPACE && code !== TAB && code !== CR) return false;
  return true;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d]);

/** Finds the end of a JSON object that arrives in pieces. Anything else has no end. */
export class ObjectEnd {
  isReached = false;
  private isBegun = false;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;

  read(piece: string): void {
    if (!this.isBegun) {
      const text = piece.trimStart();
      if (text === '') return;
      this.isBegun = true;
      // No bracket of another value is ever closed here.
      if (!text.startsWith('{')) this.depth = Infinity;
    }
    for (let at = 0; at < piece.length; at += 1) this.readCode(piece.charCodeAt(at));
  }

  private readCode(code: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (this.isInString) {
      this.isEscaped = code === BACKSLASH;
      this.isInString = code !== QUOTE;
    } else if (code === QUOTE) this.isInString = true;
    else if (OPENING.has(code)) this.depth += 1;
    else if (CLOSING.has(code)) {
      this.depth -= 1;
      this.isReached ||= this.depth === 0;
    }
  }
}

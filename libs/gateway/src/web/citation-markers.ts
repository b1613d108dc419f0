const OPEN = '[REF]';
const CLOSE = '[/REF]';

/** The longest text between marks that may be numbers. */
const INSIDE_CHARACTERS = 64;

const NUMBERS = /^\s*\d{1,4}(?:\s*[,;]\s*\d{1,4})*\s*$/;
/** What may go on to be numbers. */
const NUMBERS_SO_FAR = /^[\d\s,;]*$/;

/**
 * Keeps the citations of an answer true, piece by piece and wherever the pieces are cut: `[REF]n[/REF]` stays where
 * there is a source of that number and goes where there is none; several numbers between marks become a marker each.
 * What is held back is never more than one marker; marks around anything else are text.
 */
export class CitationMarkers {
  private held = '';

  /** @param sources How many there are; their numbers begin at 0. */
  constructor(private readonly sources: number) {}

  /** What a piece makes certain. */
  read(piece: string): string {
    const text = this.held + piece;
    this.held = '';
    let out = '';
    let start = 0;
    for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at)) {
      const marker = markerAt(text, at);
      if (marker === 'open') {
        this.held = text.slice(at);
        return out + text.slice(start, at);
      }
      if (marker === undefined) {
        at += 1;
        continue;
      }
      out += text.slice(start, at) + this.written(marker.numbers);
      start = at = marker.end;
    }
    return out + text.slice(start);
  }

  /** What was held back, once no further piece can follow: a marker that was cut points nowhere. */
  end(): string {
    const { held } = this;
    this.held = '';
    return held.startsWith(OPEN) ? '' : held;
  }

  private written(numbers: readonly number[]): string {
    return numbers
      .filter((number) => number < this.sources)
      .map((number) => `${OPEN}${number}${CLOSE}`)
      .join('');
  }
}

/** The marker that begins at an index; `open` where it may go on in the next piece; `undefined` where there is none. */
function markerAt(text: string, at: number): { numbers: number[]; end: number } | 'open' | undefined {
  if (!text.startsWith(OPEN, at)) return goesOn(OPEN, text, at) ? 'open' : undefined;
  const inside = at + OPEN.length;
  const close = text.indexOf('[', inside);
  const end = close === -1 ? text.length : close;
  const between = text.slice(inside, Math.min(end, inside + INSIDE_CHARACTERS + 1));
  if (between.length > INSIDE_CHARACTERS) return undefined;
  if (close === -1 || !text.startsWith(CLOSE, close))
    return NUMBERS_SO_FAR.test(between) && (close === -1 || goesOn(CLOSE, text, close)) ? 'open' : undefined;
  if (between.trim() === '') return { numbers: [], end: close + CLOSE.length };
  if (!NUMBERS.test(between)) return undefined;
  return { numbers: between.split(/[,;]/).map(Number), end: close + CLOSE.length };
}

/** Whether a text ends in the middle of a mark that begins at an index. */
function goesOn(mark: string, text: string, at: number): boolean {
  const rest = text.slice(at, at + mark.length);
  return rest.length < mark.length && mark.startsWith(rest);
}

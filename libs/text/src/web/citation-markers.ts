const OPEN = '[REF]';
const CLOSE = '[/REF]';

/** Longer text between tags is never treated as source numbers. */
const INSIDE_CHARACTERS = 64;

const NUMBERS = /^\s*\d{1,4}(?:\s*[,;]\s*\d{1,4})*\s*$/;
/** Text that may be the beginning of source numbers. */
const NUMBERS_SO_FAR = /^[\d\s,;]*$/;

/**
 * Removes invalid citations from a response, piece by piece, wherever the pieces are cut. `[REF]n[/REF]` is
 * kept if source n exists and removed otherwise. Several numbers in one marker become separate markers. At
 * most one marker is held back. Tags around anything else are kept as text.
 */
export class CitationMarkers {
  private held = '';

  /** @param sources The number of sources, which are numbered from 0. */
  constructor(private readonly sources: number) {}

  /** The text that can be classified after this piece. */
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

  /** The held-back text, once no further piece can follow. An incomplete marker is dropped. */
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

/** The marker at an index; `open` if it may continue in the next piece; undefined without a marker. */
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

/** Whether a text ends inside a tag that begins at an index. */
function goesOn(mark: string, text: string, at: number): boolean {
  const rest = text.slice(at, at + mark.length);
  return rest.length < mark.length && mark.startsWith(rest);
}

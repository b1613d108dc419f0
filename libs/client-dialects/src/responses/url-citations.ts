import type { SvcParametersEcho } from '@svc/api/chat';
import type { UrlCitation } from '@svc/api/responses';

const MARKER = /\[REF\](\d{1,4})\[\/REF\]/g;

/** A short text can cite a long address many times, and each citation repeats it. */
const CITATIONS_AT_MOST = 500;

/**
 * Finds the citations in a text, piece by piece; no marker is cut. Positions count Unicode characters, as
 * Python does, and include the marker.
 */
export class UrlCitations {
  readonly all: UrlCitation[] = [];
  private characters = 0;

  constructor(private readonly sources: SvcParametersEcho['web_search_citations']) {}

  /** The citations in the next piece. */
  read(piece: string): readonly UrlCitation[] {
    const before = this.all.length;
    let at = 0;
    for (const match of piece.matchAll(MARKER)) {
      const source = this.sources[Number(match[1])];
      if (!source || this.all.length === CITATIONS_AT_MOST) continue;
      this.characters += charactersOf(piece.slice(at, match.index));
      at = match.index;
      const [start, end] = [this.characters, this.characters + match[0].length];
      const { title, url } = source;
      this.all.push({ type: 'url_citation', url, title, start_index: start, end_index: end });
    }
    this.characters += charactersOf(piece.slice(at));
    return this.all.slice(before);
  }
}

/** The sources that a response may cite; undefined if it cites none. */
export function citedSources({
  enable_web_citations: cites,
  web_search_citations: found,
}: SvcParametersEcho): SvcParametersEcho['web_search_citations'] | undefined {
  return cites && found.length > 0 ? found : undefined;
}

/** A pair of surrogates is one character. */
const charactersOf = (text: string): number => text.length - (text.match(PAIRS)?.length ?? 0);

const PAIRS = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

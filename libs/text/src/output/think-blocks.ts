const OPEN = '<think>';
const CLOSE = '</think>';

/** A text separated into visible text and reasoning. */
export interface SplitText {
  readonly visible: string;
  readonly thinking: string;
}

/**
 * Separates `<think>…</think>` blocks from a model's response, piece by piece, wherever the pieces are cut.
 * It holds back at most the beginning of a tag.
 *
 * A block ends at the first closing tag, whatever was opened in it: reasoning may mention tags, and losing a
 * response is worse than showing reasoning. A closing tag without a block is dropped. White space after a
 * block is dropped until there is visible text.
 */
export class ThinkBlocks {
  private held = '';
  private hasSpoken = false;
  private trims = false;

  /** `inside` when the text begins in a block whose opening tag is not part of it. */
  constructor(private inside = false) {}

  /** The text that can be classified after this piece. */
  read(piece: string): SplitText {
    const text = this.held + piece;
    const split = { visible: '', thinking: '' };
    let start = 0;
    let at = text.indexOf('<');
    while (at !== -1) {
      const tag = this.tagAt(text, at);
      if (tag !== undefined) {
        if (text.length - at < tag.length) break;
        this.pass(text.slice(start, at), split);
        start = at + tag.length;
        this.inside = tag === OPEN;
        this.trims = !this.hasSpoken;
      }
      at = text.indexOf('<', tag === undefined ? at + 1 : start);
    }
    const end = at === -1 ? text.length : at;
    this.pass(text.slice(start, end), split);
    this.held = text.slice(end);
    return split;
  }

  /** The held-back text, once no further piece can follow. */
  end(): SplitText {
    const split = { visible: '', thinking: '' };
    this.pass(this.held, split);
    this.held = '';
    return split;
  }

  /** The tag at an index, or the tag that may begin there and continue in the next piece. */
  private tagAt(text: string, at: number): typeof OPEN | typeof CLOSE | undefined {
    if (stands(CLOSE, text, at)) return CLOSE;
    return !this.inside && stands(OPEN, text, at) ? OPEN : undefined;
  }

  private pass(text: string, split: { visible: string; thinking: string }): void {
    if (this.inside) {
      split.thinking += text;
      return;
    }
    const shown = this.trims ? text.trimStart() : text;
    if (shown === '') return;
    this.trims = false;
    this.hasSpoken ||= /\S/.test(shown);
    split.visible += shown;
  }
}

/** Whether a tag, or its beginning at the end of the text, is at an index. */
function stands(tag: string, text: string, at: number): boolean {
  return text.startsWith(tag, at) || (text.length - at < tag.length && tag.startsWith(text.slice(at)));
}

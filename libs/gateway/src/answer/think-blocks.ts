const OPEN = '<think>';
const CLOSE = '</think>';

/** A text, taken apart. */
export interface SplitText {
  readonly visible: string;
  readonly thinking: string;
}

/**
 * Parts a model's answer from the `<think>…</think>` blocks in it, piece by piece and wherever the pieces are cut;
 * what it holds back is never more than the beginning of a tag.
 *
 * A block ends at the first closing tag, whatever was opened in it: thoughts mention tags without meaning them, and
 * to lose an answer is worse than to show a thought. A closing tag without a block is dropped. White space after a
 * block is dropped until something has been said.
 */
export class ThinkBlocks {
  private held = '';
  private hasSpoken = false;
  private trims = false;

  /** `inside` when the text begins in a block whose opening tag is not part of it. */
  constructor(private inside = false) {}

  /** What a piece makes certain. */
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

  /** What was held back, once no further piece can follow. */
  end(): SplitText {
    const split = { visible: '', thinking: '' };
    this.pass(this.held, split);
    this.held = '';
    return split;
  }

  /** The tag that stands at an index, or begins there and may go on in the next piece. */
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

/** Whether a tag, or as much of it as the text has room for, stands at an index. */
function stands(tag: string, text: string, at: number): boolean {
  return text.startsWith(tag, at) || (text.length - at < tag.length && tag.startsWith(text.slice(at)));
}

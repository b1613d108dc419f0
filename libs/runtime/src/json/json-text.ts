import { LongStrings } from './long-strings.js';

/**
 * The JSON text of a request, and the long strings kept beside it. Everything that uses the text shares this
 * object, so `forget` frees its memory even while the object itself is still in use.
 */
export class JsonText {
  /** Whether the route's schema knows every member and accepts the value unchanged. */
  isPlain = false;
  private kept: { text: string; readonly strings: LongStrings } | undefined;

  constructor(text: string, strings = new LongStrings()) {
    this.kept = { text, strings };
  }

  get text(): string {
    return this.known.text;
  }

  get strings(): LongStrings {
    return this.known.strings;
  }

  /** Replaces the text by one that has some of the same long strings. */
  replace(text: string): void {
    this.known.text = text;
  }

  /** Frees the memory. From then on the text cannot be read. */
  forget(): void {
    this.kept = undefined;
  }

  private get known(): { text: string; readonly strings: LongStrings } {
    if (!this.kept) throw new Error('the text of the request was forgotten');
    return this.kept;
  }
}

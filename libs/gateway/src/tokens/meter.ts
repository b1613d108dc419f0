import { type Fields, fieldsOf, isFields } from '../json/backend-json.js';
import { LeastTokens } from './least-tokens.js';
import { estimateTokens, utf8Bytes } from './tokens.js';
import type { Tokenizer } from './tokenizer.js';

/**
 * More bytes than a usual token has, so that a backend that sends single tokens is never counted above their
 * number.
 */
const BYTES_PER_TOKEN_AT_MOST = 6;

/** The most characters of a response to keep for counting. A longer response is estimated. */
const KEPT_CHARACTERS = 131_072;

/**
 * Counts what a backend generated, for responses without a count of the backend: cut, aborted, or unreported.
 * Money is held for one token per piece, or for an estimate by size, whichever is higher. What was delivered
 * is counted by a tokenizer, or estimated by its size.
 */
export class Meter {
  private pieceCount = 0;
  private byteCount = 0;
  private deliveredBytes = 0;
  private kept: KeptText | undefined;
  private readonly least = new LeastTokens();

  /** Keeps the delivered text if there is a tokenizer to count it. `bytesOf` is the size of a text. */
  constructor(
    private readonly tokenizer?: Tokenizer,
    private readonly bytesOf: (text: string) => number = utf8Bytes,
  ) {
    if (tokenizer) this.kept = new KeptText();
  }

  /** Counts the output in a message or delta after `placeTexts`. */
  addMessage(message: Fields, choice = 0): void {
    const { content, tool_calls: calls } = message;
    if (Array.isArray(content))
      for (const part of fieldsOf(content)) this.add(part['text'], 'content', choice);
    else this.add(content, 'content', choice);
    this.add(message['reasoning_content'], 'reasoning', choice);
    this.add(message['refusal'], 'refusal', choice);
    if (!Array.isArray(calls)) return;
    for (const [position, { index = position, function: called }] of fieldsOf(calls).entries()) {
      if (!isFields(called)) continue;
      this.add(called['name'], `name ${String(index)}`, choice);
      this.add(called['arguments'], `arguments ${String(index)}`, choice);
    }
  }

  /** Counts a text or the next piece of one; other values count nothing. */
  add(text: unknown, member: string, choice: number): void {
    if (typeof text !== 'string' || text === '') return;
    this.pieceCount += 1;
    this.byteCount += this.bytesOf(text);
    this.least.add(text);
    this.kept?.add(`${choice} ${member}`, text);
  }

  /** Pieces of text; a lower bound for the tokens. */
  get pieces(): number {
    return this.pieceCount;
  }

  /** Bytes of UTF-8; an upper bound for the tokens. */
  get bytes(): number {
    return this.byteCount;
  }

  /** Tokens so far, for holding money. */
  get tokens(): number {
    return tokensOf(this.pieceCount, this.byteCount);
  }

  /** The same after one more piece of this many bytes. */
  tokensWith(bytes: number): number {
    return tokensOf(this.pieceCount + 1, this.byteCount + bytes);
  }

  /** Estimated tokens that were delivered. The same for the same text, however many pieces it came in. */
  get deliveredTokens(): number {
    return estimateTokens(this.deliveredBytes);
  }

  /** Lower bound for the tokens of all text. A backend that reports fewer has not counted it. */
  get tokensAtLeast(): number {
    return this.least.tokens;
  }

  /** Marks everything added so far as delivered. */
  deliver(): void {
    this.deliveredBytes = this.byteCount;
    if (this.kept?.deliver() === false) this.kept = undefined;
  }

  /**
   * Tokens that were delivered: counted if there is a tokenizer and the text is not too long, otherwise
   * estimated.
   */
  async countDelivered(): Promise<number> {
    if (!this.tokenizer || !this.kept) return this.deliveredTokens;
    return this.tokenizer.count(this.kept.texts());
  }
}

function tokensOf(pieces: number, bytes: number): number {
  return Math.max(pieces, Math.floor(bytes / BYTES_PER_TOKEN_AT_MOST));
}

/** The delivered output by text: a token may span several pieces of a text, but never two texts. */
class KeptText {
  private readonly delivered = new Map<string, string>();
  private pending: (readonly [text: string, piece: string])[] = [];
  private characters = 0;

  add(text: string, piece: string): void {
    this.pending.push([text, piece]);
  }

  /** Marks the added text as delivered. Returns false if it is too long to keep. */
  deliver(): boolean {
    for (const [text, piece] of this.pending) {
      this.characters += piece.length;
      this.delivered.set(text, (this.delivered.get(text) ?? '') + piece);
    }
    this.pending = [];
    return this.characters <= KEPT_CHARACTERS;
  }

  texts(): Iterable<string> {
    return this.delivered.values();
  }
}

import { type Fields, fieldsOf, isFields } from '../json/backend-json.js';
import { LeastTokens } from './least-tokens.js';
import { estimateTokens } from './tokens.js';
import type { Tokenizer } from './tokenizer.js';

/** More bytes than a common token has, so that a backend which sends token by token is never counted above that. */
const BYTES_PER_TOKEN_AT_MOST = 6;

/** Characters of an answer that are kept to be counted. A longer one is estimated. */
const KEPT_CHARACTERS = 131_072;

/**
 * Counts what a backend generated, for answers whose backend has not said: cut, aborted, or silent about it. Money is
 * held for a token a piece, or for what the size of a text suggests, whichever is more; what was delivered is counted
 * by a tokenizer, or estimated by its size.
 */
export class Meter {
  private pieceCount = 0;
  private byteCount = 0;
  private deliveredBytes = 0;
  private kept: KeptText | undefined;
  private readonly least = new LeastTokens();

  /** Keeps what was delivered where there is a tokenizer to count it. */
  constructor(private readonly tokenizer?: Tokenizer) {
    if (tokenizer) this.kept = new KeptText();
  }

  /** Counts the output in a message or a delta whose texts are placed. */
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

  /** Pieces of text. There are at least as many tokens. */
  get pieces(): number {
    return this.pieceCount;
  }

  /** Of UTF-8. There are at most as many tokens. */
  get bytes(): number {
    return this.byteCount;
  }

  /** Tokens so far, as money is held for them. */
  get tokens(): number {
    return Math.max(this.pieceCount, Math.floor(this.byteCount / BYTES_PER_TOKEN_AT_MOST));
  }

  /** Of what was delivered, estimated: the same for the same text, in however many pieces it came. */
  get deliveredTokens(): number {
    return estimateTokens(this.deliveredBytes);
  }

  /** A backend that reports fewer for what was added has not counted it. */
  get tokensAtLeast(): number {
    return this.least.tokens;
  }

  /** What was added so far has been delivered. */
  deliver(): void {
    this.deliveredBytes = this.byteCount;
    if (this.kept?.deliver() === false) this.kept = undefined;
  }

  /** Tokens that were delivered: counted where there is a tokenizer and the text is not too long, else estimated. */
  async countDelivered(): Promise<number> {
    if (!this.tokenizer || !this.kept) return this.deliveredTokens;
    return this.tokenizer.count(this.kept.texts());
  }

  private add(text: unknown, member: string, choice: number): void {
    if (typeof text !== 'string' || text === '') return;
    this.pieceCount += 1;
    this.byteCount += Buffer.byteLength(text);
    this.least.add(text);
    this.kept?.add(`${choice} ${member}`, text);
  }
}

/** What was delivered, text by text: a token may lie over several pieces, but never over two texts. */
class KeptText {
  private readonly delivered = new Map<string, string>();
  private pending: (readonly [text: string, piece: string])[] = [];
  private characters = 0;

  add(text: string, piece: string): void {
    this.pending.push([text, piece]);
  }

  /** Takes what was added. False when it is too much to keep. */
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

import { type Fields, fieldsOf } from '@svc/contracts/inference';
import { LeastTokens } from './least-tokens.js';
import { OtherTexts, isRead } from './other-texts.js';
import { estimateTokens, utf8Bytes } from './tokens.js';
import type { Tokenizer } from './tokenizer.js';

/**
 * More bytes than a usual token has, so that a backend that sends single tokens is never counted above their
 * number.
 */
const BYTES_PER_TOKEN_AT_MOST = 6;

/** The longest tokens of common vocabularies. An entry of log probabilities with a longer text is several. */
const CHARACTERS_PER_ENTRY = 128;

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
  /** Made when a message has any. */
  private others: OtherTexts | undefined;
  /** Tokens that the log probabilities list, and those of them that were delivered. */
  private loggedTokens = 0;
  private idTokens = 0;
  private deliveredListedTokens = 0;

  /** Keeps the delivered text if there is a tokenizer to count it. `bytesOf` is the size of a text. */
  constructor(
    private readonly tokenizer?: Tokenizer,
    private readonly bytesOf: (text: string) => number = utf8Bytes,
  ) {
    if (tokenizer) this.kept = new KeptText();
  }

  /**
   * Counts a message or delta whose texts are in their places: every string in it is passed on to the client,
   * whatever its name and depth.
   */
  addMessage(message: Fields, choice = 0): void {
    const { content, reasoning_content: reasoning, refusal } = message;
    const before = this.pieceCount;
    this.add(content, 'content', choice);
    this.add(reasoning, 'reasoning', choice);
    this.add(refusal, 'refusal', choice);
    if (!hasOthers(message)) return;
    const sent: string[] = [];
    for (const text of [reasoning, content, refusal])
      if (typeof text === 'string' && text !== '') sent.push(text);
    this.others ??= new OtherTexts(this.kept !== undefined);
    this.others.read(message, sent, (text, place, isGenerated) => {
      this.count(text, place, choice);
      // One token of a model may come with any number of other texts.
      if (isGenerated || this.pieceCount === before) this.pieceCount += 1;
    });
  }

  /** Counts a text or the next piece of one; other values count nothing. */
  add(text: unknown, member: string, choice: number): void {
    if (typeof text !== 'string' || text === '') return;
    this.pieceCount += 1;
    this.count(text, member, choice);
  }

  /** Counts log probabilities: an entry for each token, whose text usually is in the message, too. */
  addLogprobs(logprobs: Fields | null | undefined): void {
    if (!logprobs) return;
    for (const list of [logprobs['content'], logprobs['refusal']])
      for (const { token } of fieldsOf(list)) this.loggedTokens += tokensInEntry(token);
  }

  /** Counts the ids of tokens, whose text usually is in the message, too. */
  addTokenIds(count: number): void {
    this.idTokens += count;
  }

  private get listedTokens(): number {
    return Math.max(this.loggedTokens, this.idTokens);
  }

  private count(text: string, member: string, choice: number): void {
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
    return Math.max(tokensOf(this.pieceCount, this.byteCount), this.listedTokens);
  }

  /** The same after one more piece of this many bytes. */
  tokensWith(bytes: number): number {
    return Math.max(tokensOf(this.pieceCount + 1, this.byteCount + bytes), this.listedTokens);
  }

  /** Estimated tokens that were delivered. The same for the same text, however many pieces it came in. */
  get deliveredTokens(): number {
    return Math.max(estimateTokens(this.deliveredBytes), this.deliveredListedTokens);
  }

  /** Lower bound for the tokens of all text. A backend that reports fewer has not counted it. */
  get tokensAtLeast(): number {
    return this.least.tokens;
  }

  /** Marks everything added so far as delivered. */
  deliver(): void {
    this.deliveredBytes = this.byteCount;
    this.deliveredListedTokens = this.listedTokens;
    if (this.kept?.deliver() === false) this.kept = undefined;
  }

  /**
   * Tokens that were delivered: counted if there is a tokenizer and the text is not too long, otherwise
   * estimated.
   */
  async countDelivered(): Promise<number> {
    if (!this.tokenizer || !this.kept) return this.deliveredTokens;
    return Math.max(await this.tokenizer.count(this.kept.texts()), this.deliveredListedTokens);
  }
}

/** Whether a message has members apart from its texts. Without an allocation, since most have none. */
function hasOthers(message: Fields): boolean {
  for (const name in message) if (!isRead(name, message[name])) return true;
  return false;
}

function tokensInEntry(token: unknown): number {
  return typeof token === 'string' ? Math.max(1, Math.ceil(token.length / CHARACTERS_PER_ENTRY)) : 1;
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

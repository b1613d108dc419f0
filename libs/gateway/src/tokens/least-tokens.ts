import type { ChatRequest } from '@svc/contracts';

/**
 * More characters than any token has, runs of the same one or two characters and of space not counted: of cl100k_base and
 * o200k_base, the longest is `.translatesAutoresizingMaskIntoConstraints`, with 42. Source: gpt-tokenizer 3.
 */
const CHARACTERS_PER_TOKEN_AT_MOST = 48;

/** These vocabularies, and those of SentencePiece by default, have no token over two words; others may have some. */
const WORDS_PER_TOKEN_AT_MOST = 2;

/** What is beyond is taken to have no tokens. */
const COUNTED_CHARACTERS = 131_072;

const SPACE = 0x20;

/** A lower bound for the tokens of texts: a backend that reports fewer has not counted them. */
export class LeastTokens {
  private words = 0;
  private characters = 0;
  private left = COUNTED_CHARACTERS;

  /** Adds a text, or a piece of one: what goes on over two pieces is counted low enough. */
  add(text: string): void {
    const end = Math.min(text.length, this.left);
    this.left -= end;
    let [last, beforeLast] = [0, 0];
    for (let at = 0; at < end; at += 1) {
      const unit = Math.max(text.charCodeAt(at), SPACE);
      if (unit !== last && unit !== beforeLast) this.characters += 1;
      if (unit !== SPACE && last === SPACE) this.words += 1;
      beforeLast = last;
      last = unit;
    }
  }

  get tokens(): number {
    return Math.floor(
      Math.max(this.words / WORDS_PER_TOKEN_AT_MOST, this.characters / CHARACTERS_PER_TOKEN_AT_MOST),
    );
  }
}

/**
 * A lower bound for the tokens of a prompt, of what every chat template passes on: of earlier answers it may leave out the
 * reasoning, and of tools all that is not asked for.
 */
export function leastPromptTokens({ messages }: ChatRequest): number {
  const least = new LeastTokens();
  for (const { role, content } of messages) {
    if (role === 'assistant') continue;
    if (typeof content === 'string') least.add(content);
    else if (content) for (const part of content) if (part.type === 'text') least.add(part.text);
  }
  return least.tokens;
}

import type { ChatRequest } from '@svc/api/chat';

/**
 * Exceeds the length of any token, not counting runs of the same one or two characters and of spaces. The
 * longest token of cl100k_base and o200k_base is `.translatesAutoresizingMaskIntoConstraints`, with 42.
 * Source: gpt-tokenizer 3.
 */
const CHARACTERS_PER_TOKEN_AT_MOST = 48;

/**
 * These vocabularies, and by default those of SentencePiece, have no token across two words; others may have
 * some.
 */
const WORDS_PER_TOKEN_AT_MOST = 2;

/** Characters beyond this number are ignored. */
const COUNTED_CHARACTERS = 131_072;

const SPACE = 0x20;

/** A lower bound for the tokens of texts. A backend that reports fewer has not counted them. */
export class LeastTokens {
  private words = 0;
  private characters = 0;
  private left = COUNTED_CHARACTERS;

  /** Adds a text or part of a text. Splitting a text does not raise the bound above its tokens. */
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
 * A lower bound for the tokens of a prompt. Counts only what every chat template passes on: templates may
 * omit the reasoning of earlier responses, and unneeded parts of tools.
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

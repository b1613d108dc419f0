const SPACE = 32;
const WORD_LENGTH = 6;

const WORD = new Uint8Array(128);
for (const char of '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
  WORD[char.charCodeAt(0)] = 1;

/**
 * The end of the token that begins at `start`. A token is up to six ASCII letters or digits, or any other
 * single character; one space may precede it. A surrogate pair stays whole, so a token is always valid UTF-8
 * and the joined tokens are the text.
 */
export function tokenEnd(text: string, start: number): number {
  let i = start;
  if (text.charCodeAt(i) === SPACE && i + 1 < text.length && text.charCodeAt(i + 1) > SPACE) i++;
  const code = text.charCodeAt(i);
  if (code < 128 && WORD[code] === 1) {
    const limit = Math.min(i + WORD_LENGTH, text.length);
    do i++;
    while (i < limit && WORD[text.charCodeAt(i)] === 1);
    return i;
  }
  const isPair = code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
  return i + (isPair ? 2 : 1);
}

/** Splits text into tokens whose concatenation is the text. */
export function tokenize(text: string): string[] {
  const tokens: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = tokenEnd(text, start);
    tokens.push(text.slice(start, end));
    start = end;
  }
  return tokens;
}

/** The number of tokens in the text. */
export function countTokens(text: string): number {
  let count = 0;
  for (let start = 0; start < text.length; start = tokenEnd(text, start)) count++;
  return count;
}

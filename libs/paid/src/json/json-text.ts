import { unescapedJson } from '@svc/runtime';
export const QUOTE = 0x22;
const BACKSLASH = 0x5c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const COMMA = 0x2c;
export const COLON = 0x3a;

/**
 * Characters to check one by one before using the native search, which is slow to call but fast over
 * distance.
 */
const NEAR = 256;

/**
 * The index after the closing quote of the string that begins at `start`. Takes linear time, whatever its
 * escapes.
 */
export function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const near = Math.min(text.length, at + NEAR);
    while (at < near) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return at + 1;
      at += code === BACKSLASH ? 2 : 1;
    }
    if (at >= text.length) throw new SyntaxError('a string does not end');
    const quote = text.indexOf('"', at);
    if (quote === -1) throw new SyntaxError('a string does not end');
    // Looking back stops at `at`, which follows a complete character or escape.
    let backslashes = 0;
    while (quote - 1 - backslashes >= at && text.charCodeAt(quote - 1 - backslashes) === BACKSLASH)
      backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/**
 * The name of the member whose quotes are at `start` and before `end`. Only the few names with escapes need
 * parsing.
 */
export function nameBetween(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end - 1);
  return name.includes('\\') ? unescapedJson(name) : name;
}

/** The index of the first non-space at or after `from`. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  for (
    let code = text.charCodeAt(at);
    code === 0x20 || (code >= 0x09 && code <= 0x0d);
    code = text.charCodeAt(at)
  )
    at += 1;
  return at;
}

/** The characters that delimit values. */
const STRUCTURE = /["{}[\],]/g;
/** A native search is slower than checking this number of characters one by one. */
const FEW = 16;

/** The index of the comma or bracket after the value that begins at `start`. */
export function valueEnd(text: string, start: number): number {
  let depth = 0;
  // Characters before this index are checked one by one; a long number, or spaces, goes beyond it.
  let searchFrom = start + FEW;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if ((code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) && depth === 0) return at;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    else if (code !== COMMA) {
      if (at >= searchFrom) at = structureFrom(text, at) - 1;
      continue;
    }
    searchFrom = at + FEW;
  }
  return text.length;
}

/** The index of the next quote, bracket, brace or comma. */
function structureFrom(text: string, start: number): number {
  STRUCTURE.lastIndex = start;
  return STRUCTURE.test(text) ? STRUCTURE.lastIndex - 1 : text.length;
}

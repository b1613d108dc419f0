import { setImmediate as turn } from 'node:timers/promises';
import type { LongStrings } from '@svc/runtime';

/** Longer strings are kept apart from the text. */
const LONG_STRING = 4_096;
/** Characters written before yielding to other work. */
const SLICE = 131_072;

/** A value as JSON. Its long strings are kept separately and written in slices. */
export async function writtenJson(value: unknown, strings: LongStrings): Promise<string> {
  const long: { text: string; pieces: Uint8Array[] }[] = [];
  const json = JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'string' || member.length <= LONG_STRING) return member;
    const pieces: Uint8Array[] = [];
    long.push({ text: member, pieces });
    return strings.keep(pieces);
  });
  for (const { text, pieces } of long) {
    for (let at = 0; at < text.length;) {
      const end = cutBefore(text, at + SLICE);
      pieces.push(Buffer.from(JSON.stringify(text.slice(at, end)).slice(1, -1)));
      at = end;
      await turn();
    }
  }
  return json;
}

/** An index near `end` that does not split a surrogate pair. */
export function cutBefore(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code < 0xdc00 ? end - 1 : end;
}

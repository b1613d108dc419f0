/**
 * Approximate size of a value as JSON in bytes, not counting escapes. Cheap even for megabytes: no text is
 * built.
 */
export function jsonSize(value: unknown): number {
  let bytes = 0;
  // A list in place of a recursion, which deep values would overflow.
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string') bytes += stringSize(next);
    else if (typeof next !== 'object' || next === null) bytes += String(next).length;
    else if (Array.isArray(next)) {
      bytes += 2 + next.length;
      for (const item of next) left.push(item);
    } else {
      bytes += 2;
      for (const [name, member] of Object.entries(next)) {
        if (member === undefined) continue;
        bytes += stringSize(name) + 2;
        left.push(member);
      }
    }
  }
  return bytes;
}

const stringSize = (text: string): number => Buffer.byteLength(text) + 2;

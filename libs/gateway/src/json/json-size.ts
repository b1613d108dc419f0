/**
 * Approximate size of a value as JSON in bytes, not counting escapes. Cheap even for megabytes: no text is
 * built.
 */
export function jsonSize(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + jsonSize(item) + 1, 2);
  if (typeof value !== 'object' || value === null) return String(value).length;
  let bytes = 2;
  for (const [name, member] of Object.entries(value))
    if (member !== undefined) bytes += jsonSize(name) + jsonSize(member) + 2;
  return bytes;
}

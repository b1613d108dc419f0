/** About the bytes of a value as JSON: exact but for what JSON escapes. Nothing is written, so megabytes cost little. */
export function jsonSize(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + jsonSize(item) + 1, 2);
  if (typeof value !== 'object' || value === null) return String(value).length;
  let bytes = 2;
  for (const [name, member] of Object.entries(value))
    if (member !== undefined) bytes += jsonSize(name) + jsonSize(member) + 2;
  return bytes;
}

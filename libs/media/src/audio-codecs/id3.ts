/** Where an ID3v2 tag at a position ends: the same position if no tag is there. */
export function id3End(bytes: Buffer, at: number): number {
  if (bytes[at] !== 0x49 || bytes[at + 1] !== 0x44 || bytes[at + 2] !== 0x33 || at + 10 > bytes.length)
    return at;
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 6, at + 10);
  const footer = ((bytes[at + 5] ?? 0) & 0x10) === 0 ? 0 : 10;
  return at + 10 + ((a & 127) << 21) + ((b & 127) << 14) + ((c & 127) << 7) + (d & 127) + footer;
}

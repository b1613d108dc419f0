const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;

/** Cuts UTF-8 bytes into pieces such that every multi-byte character lies across a cut. */
export function splitInsideCharacters(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  for (let i = 1; i < bytes.length; i++) {
    const isSecondByte = isContinuation(bytes[i]) && !isContinuation(bytes[i - 1]);
    if (!isSecondByte) continue;
    pieces.push(bytes.subarray(start, i));
    start = i;
  }
  pieces.push(bytes.subarray(start));
  return pieces;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & CONTINUATION_MASK) === CONTINUATION;
}

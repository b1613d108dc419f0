import { Unreadable } from '@svc/threads';

const bom = (bytes: Uint8Array): string | undefined => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
};

/** Bytes that no text in a one-byte encoding needs; tab, line ends, form feed and escape are allowed. */
const isControl = (byte: number): boolean =>
  (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) || byte === 0x7f;

/** Text has no NUL and almost no control characters: old printer files have one in 200. */
function isBinary(bytes: Uint8Array): boolean {
  let controls = 0;
  for (const byte of bytes) {
    if (byte === 0) return true;
    if (isControl(byte)) controls += 1;
  }
  return controls * 200 > bytes.length;
}

/** UTF-8, UTF-16 with a byte order mark, or else Windows-1252, in which every byte has a meaning. */
export function decodeText(bytes: Uint8Array): string {
  const marked = bom(bytes);
  if (marked) return new TextDecoder(marked).decode(bytes);
  if (isBinary(bytes)) throw new Unreadable('it is neither text nor of a supported type');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

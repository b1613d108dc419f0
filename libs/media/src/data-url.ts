import { setImmediate as turn } from 'node:timers/promises';

/** The head of a data URL, before its data. */
export interface DataUrlHead {
  /** Without parameters, in lower case; empty if absent. */
  readonly mediaType: string;
  readonly isBase64: boolean;
  /** The offset of the data. */
  readonly start: number;
}

const HEAD = /^data:([^;,]*)((?:;[^;,]*)*),/i;
const HEAD_LIMIT_CHARS = 1_000;

/** The head of a data URL (RFC 2397); `undefined` if it is not one. */
export function dataUrlHead(url: string): DataUrlHead | undefined {
  const match = HEAD.exec(url.slice(0, HEAD_LIMIT_CHARS));
  if (!match) return undefined;
  const [head, mediaType = '', parameters = ''] = match;
  return {
    mediaType: mediaType.toLowerCase(),
    isBase64: /;base64$/i.test(parameters),
    start: head.length,
  };
}

/** Characters processed before yielding to the event loop; a multiple of 4. */
const SLICE = 262_144;

export interface DataUrlBytes {
  readonly bytes: Buffer;
  /**
   * False unless the text is plain base64 as `dataUrl` writes it: other alphabets, spaces, or missing
   * padding.
   */
  readonly isPlain: boolean;
}

/**
 * The bytes of a data URL; `undefined` if its base64 is invalid. Linear and in slices, so that 33 MB do not
 * block the event loop.
 */
export async function dataUrlBytes(url: string, head: DataUrlHead): Promise<DataUrlBytes | undefined> {
  const data = url.slice(head.start);
  if (!head.isBase64) return { bytes: await percentDecoded(data), isPlain: false };
  if (!data.includes('%')) return base64Bytes(data);
  const decoded = await base64Bytes((await percentDecoded(data)).toString('latin1'));
  return decoded && { ...decoded, isPlain: false };
}

/** Bytes as a data URL, in slices. */
export async function dataUrl(mediaType: string, bytes: Uint8Array): Promise<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pieces = [`data:${mediaType};base64,`];
  const step = (SLICE / 4) * 3;
  for (let at = 0; at < buffer.length; at += step) {
    if (at > 0) await turn();
    pieces.push(buffer.toString('base64', at, at + step));
  }
  return pieces.join('');
}

const ALPHABET = /^[A-Za-z0-9+/]*$/;
const ANY_ALPHABET = /^[A-Za-z0-9+/_-]*$/;
const SPACES = /[\t\n\f\r ]+/g;

/** The bytes of base64 text; `undefined` if it is invalid. Spaces are skipped, padding may be missing. */
export async function base64Bytes(text: string): Promise<DataUrlBytes | undefined> {
  const end = contentEnd(text);
  const bytes = Buffer.allocUnsafeSlow(Math.ceil((end * 3) / 4));
  let isPlain = text.length % 4 === 0 && text.length - end <= 2;
  let used = 0;
  let rest = '';
  for (let at = 0; at < end; at += SLICE) {
    if (at > 0) await turn();
    let piece = text.slice(at, Math.min(at + SLICE, end));
    if (!ALPHABET.test(piece)) {
      isPlain = false;
      piece = piece.replaceAll(SPACES, '');
      if (!ANY_ALPHABET.test(piece)) return undefined;
    }
    piece = rest + piece;
    const whole = piece.length - (piece.length % 4);
    used += bytes.write(piece.slice(0, whole), used, 'base64');
    rest = piece.slice(whole);
  }
  if (rest.length === 1) return undefined;
  used += bytes.write(rest, used, 'base64');
  return { bytes: bytes.subarray(0, used), isPlain };
}

/** Where padding and the spaces around it begin. More than two padding characters are not padding. */
function contentEnd(text: string): number {
  let end = text.length;
  for (let signs = 0; end > 0; end -= 1) {
    const last = text.charCodeAt(end - 1);
    if (last === 0x3d) signs += 1;
    else if (last !== 0x20 && !(last >= 0x09 && last <= 0x0d)) break;
    if (signs > 2) break;
  }
  return end;
}

const PERCENT = 0x25;

async function percentDecoded(text: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length;) {
    if (at > 0) await turn();
    const end = cutBefore(text, at + SLICE);
    pieces.push(percentDecodedPiece(Buffer.from(text.slice(at, end), 'utf8')));
    at = end;
  }
  return Buffer.concat(pieces);
}

/** An end near `end` that cuts neither an escape nor a surrogate pair. */
function cutBefore(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const code = text.charCodeAt(end - 1);
  if (code >= 0xd800 && code < 0xdc00) return end - 1;
  if (code === PERCENT) return end - 1;
  return text.charCodeAt(end - 2) === PERCENT ? end - 2 : end;
}

/** Decodes in place: the result is never longer. */
function percentDecodedPiece(bytes: Buffer): Buffer {
  let used = 0;
  for (let at = 0; at < bytes.length; at += 1, used += 1) {
    const high = bytes[at] === PERCENT ? hexDigit(bytes[at + 1]) : -1;
    const low = high === -1 ? -1 : hexDigit(bytes[at + 2]);
    if (low === -1) {
      bytes[used] = bytes[at] ?? 0;
    } else {
      bytes[used] = high * 16 + low;
      at += 2;
    }
  }
  return bytes.subarray(0, used);
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

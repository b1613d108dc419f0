/** What a data URL holds. */
export interface DataUrl {
  /** Without parameters, in lower case; empty when none was given. */
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const HEAD = /^data:([^;,]*)((?:;[^;,]*)*),/i;
const HEAD_LIMIT_CHARS = 1_000;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** A data URL taken apart (RFC 2397); `undefined` when it is none or its base64 is broken. */
export function parseDataUrl(url: string): DataUrl | undefined {
  const match = HEAD.exec(url.slice(0, HEAD_LIMIT_CHARS));
  if (!match) return undefined;
  const [head, mediaType = '', parameters = ''] = match;
  const data = url.slice(head.length);
  if (!/;base64$/i.test(parameters))
    return { mediaType: mediaType.toLowerCase(), bytes: percentDecoded(data) };
  const text =
    data.includes('%') || /\s/.test(data) ? percentDecoded(data).toString('latin1').replace(/\s/g, '') : data;
  if (!BASE64.test(text)) return undefined;
  return { mediaType: mediaType.toLowerCase(), bytes: Buffer.from(text, 'base64') };
}

/** Bytes as a data URL again. */
export function dataUrl(mediaType: string, bytes: Uint8Array): string {
  return `data:${mediaType};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')}`;
}

function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  const decoded = bytes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, 'latin1');
}

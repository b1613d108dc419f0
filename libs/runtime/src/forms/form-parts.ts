import { setImmediate as nextTurn } from 'node:timers/promises';
import { Problem } from '@svc/contracts/problems';

/** The most parts of a form, and the most header bytes of each. */
export const PARTS_AT_MOST = 64;
export const HEAD_BYTES = 4_096;

/** The most characters of a part's name. */
const NAME_LENGTH = 100;

/** The bytes searched in one turn of the event loop. */
const SLICE_BYTES = 1_048_576;

export const LINE = '\r\n';

/** A part of a form: a file if it has a `file`. */
export interface FormPart {
  readonly name: string;
  readonly content: Buffer;
  readonly file?: { readonly name?: string; readonly mediaType?: string };
}

/** The parts of a form (RFC 7578) in their order. Rejects with INVALID_REQUEST. */
export async function readParts(bytes: Buffer, contentType: string): Promise<FormPart[]> {
  const boundary = boundaryOf(contentType);
  const parts: FormPart[] = [];
  let at = await find(bytes, `--${boundary}`, 0);
  for (let count = 0; count <= PARTS_AT_MOST; count += 1) {
    if (at === -1) throw broken('it ends within a part');
    at += boundary.length + 2;
    const mark = bytes.toString('latin1', at, at + 2);
    if (mark === '--') return parts;
    if (mark !== LINE) throw broken('a boundary is not followed by a line end');
    const head = bytes.subarray(at, at + HEAD_BYTES).indexOf(LINE + LINE);
    if (head === -1) throw broken('a part has no head, or one that is too long');
    const begins = at + head + 4;
    const ends = await find(bytes, `${LINE}--${boundary}`, begins);
    if (ends === -1) throw broken('it ends within a part');
    const content = bytes.subarray(begins, ends);
    parts.push({ ...headOf(bytes.toString('utf8', at + 2, at + head)), content });
    at = ends + LINE.length;
  }
  throw broken(`it has more than ${PARTS_AT_MOST} parts`);
}

export function boundaryOf(contentType: string): string {
  const [, quoted, plain] =
    /;\s*boundary\s*=\s*(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70})(?=[\s;]|$))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw broken('its type names no boundary');
  return boundary;
}

/** The offset of a text, or -1. Searches in slices, so as not to block the event loop. */
async function find(bytes: Buffer, text: string, from: number): Promise<number> {
  const sought = Buffer.from(text, 'latin1');
  for (let at = from; at < bytes.length; at += SLICE_BYTES) {
    if (at > from) await nextTurn();
    const found = bytes.subarray(at, at + SLICE_BYTES + sought.length - 1).indexOf(sought);
    if (found !== -1) return at + found;
  }
  return -1;
}

/** What the head of a part says. */
export function headOf(head: string): Omit<FormPart, 'content'> {
  const headers = new Map(
    head.split(LINE).map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const disposition = headers.get('content-disposition') ?? '';
  const name = parameter(disposition, 'name');
  if (!/^form-data\b/i.test(disposition) || name === undefined) throw broken('a part has no name');
  // Code that copies members would set the prototype of its copy.
  if (name.length > NAME_LENGTH || name === '__proto__')
    throw broken(`a part has a name that is not accepted; names have at most ${NAME_LENGTH} characters`);
  const file = parameter(disposition, 'filename') ?? encodedParameter(disposition, 'filename');
  if (file === undefined) return { name };
  const mediaType = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  return {
    name,
    file: { ...(file !== '' && { name: file.slice(-255) }), ...(mediaType !== '' && { mediaType }) },
  };
}

/** Between quotes: a backslash escapes the next character, unless the text ends with it. */
const QUOTED = String.raw`(?:[^"\\]|\\(?:(?="(?:$|;\s*[\w*]+=))|.))*`;

/**
 * Browsers encode quotes and line ends in names as `%22`, `%0D` and `%0A`, and leave a backslash as it is;
 * other clients escape quotes and backslashes.
 */
function parameter(disposition: string, name: string): string | undefined {
  const [, quoted, plain] =
    new RegExp(`;\\s*${name}\\s*=\\s*(?:"(${QUOTED})"|([^\\s;"]+))`, 'i').exec(disposition) ?? [];
  const escaped: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };
  return (quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain)?.replaceAll(
    /%(?:22|0D|0A)/gi,
    (mark) => escaped[mark.toUpperCase()] ?? mark,
  );
}

/** A parameter such as `filename*=utf-8''na%C3%AFve.mp3` (RFC 8187), which older Python clients send. */
function encodedParameter(disposition: string, name: string): string | undefined {
  const encoded = new RegExp(`;\\s*${name}\\*\\s*=\\s*utf-8'[^']*'([^\\s;"]+)`, 'i').exec(disposition)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return '';
  }
}

/** The problem of a form that is malformed as a whole. */
export const broken = (why: string): Problem =>
  new Problem('INVALID_REQUEST', { message: `The form cannot be read: ${why}.` });

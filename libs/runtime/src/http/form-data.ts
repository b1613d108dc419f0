import { setImmediate as nextTurn } from 'node:timers/promises';
import { type FormFile, Problem } from '@svc/contracts';

/** The most members of a form, and the most header bytes of each. */
const PARTS_AT_MOST = 64;
const HEAD_BYTES = 4_096;

/** The bytes searched in one turn of the event loop. */
const SLICE_BYTES = 1_048_576;

const LINE = '\r\n';

export type Form = Readonly<Record<string, string | FormFile>>;

/**
 * The members of a form (RFC 7578), text as strings. The first of several with one name counts. Rejects with
 * INVALID_REQUEST.
 */
export async function readForm(bytes: Buffer, contentType: string): Promise<Form> {
  const boundary = boundaryOf(contentType);
  const form = new Map<string, string | FormFile>();
  let at = await find(bytes, `--${boundary}`, 0);
  for (let count = 0; count <= PARTS_AT_MOST; count += 1) {
    if (at === -1) throw broken('it ends within a part');
    at += boundary.length + 2;
    const mark = bytes.toString('latin1', at, at + 2);
    if (mark === '--') return Object.fromEntries(form);
    if (mark !== LINE) throw broken('a boundary is not followed by a line end');
    const head = bytes.subarray(at, at + HEAD_BYTES).indexOf(LINE + LINE);
    if (head === -1) throw broken('a part has no head, or one that is too long');
    const begins = at + head + 4;
    const ends = await find(bytes, `${LINE}--${boundary}`, begins);
    if (ends === -1) throw broken('it ends within a part');
    add(form, bytes.toString('utf8', at + 2, at + head), bytes.subarray(begins, ends));
    at = ends + LINE.length;
  }
  throw broken(`it has more than ${PARTS_AT_MOST} parts`);
}

function boundaryOf(contentType: string): string {
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

function add(form: Map<string, string | FormFile>, head: string, content: Buffer): void {
  const headers = new Map(
    head.split(LINE).map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const disposition = headers.get('content-disposition') ?? '';
  const name = parameter(disposition, 'name');
  if (!/^form-data\b/i.test(disposition) || name === undefined) throw broken('a part has no name');
  if (form.has(name)) return;
  const file = parameter(disposition, 'filename');
  if (file === undefined) form.set(name, content.toString('utf8'));
  else {
    const mediaType = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
    form.set(name, {
      ...(file !== '' && { name: file.slice(-255) }),
      ...(mediaType !== '' && { mediaType }),
      bytes: content,
    });
  }
}

/** Browsers encode quotes and line ends in names as `%22`, `%0D` and `%0A`. */
function parameter(disposition: string, name: string): string | undefined {
  const [, quoted, plain] =
    new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i').exec(disposition) ?? [];
  const escaped: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };
  return (quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain)?.replaceAll(
    /%(?:22|0D|0A)/gi,
    (mark) => escaped[mark.toUpperCase()] ?? mark,
  );
}

const broken = (why: string): Problem =>
  new Problem('INVALID_REQUEST', { message: `The form cannot be read: ${why}.` });

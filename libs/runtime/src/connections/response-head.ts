import { errors } from 'undici';

/** The headers or trailers of a response, by lower-case name. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** How the end of a body is found: by its length, by its chunks, or by the end of the connection. */
type Framing = number | 'chunks' | 'close';

/** The head of a response. */
export interface ReceivedHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly framing: Framing;
  /**
   * How long the other side keeps the connection open without a request, in milliseconds: 0 if it ends with
   * this response, and undefined if it does not say.
   */
  readonly keptMs: number | undefined;
}

/** As in undici: taken off what the other side says, since a request may cross the end on its way. */
const THRESHOLD_MS = 2_000;
/** As in undici: the most that the other side may say. */
const LONGEST_KEPT_MS = 600_000;

const HTAB = 9;
const SPACE = 32;
const COLON = 58;
const DELETE = 127;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const LENGTH = /^\d{1,15}$/;
const KEPT = /(?:^|[ ,])timeout=(\d{1,6})(?:$|[ ,])/i;

/** Whether a code of Latin-1 may be in a name: the characters of a token (RFC 9110, section 5.6.2). */
const IN_NAME = Uint8Array.from({ length: 256 }, (_, code) =>
  /[\w!#$%&'*+\-.^`|~]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** What a server sent is no response. */
export function fault(message: string): Error {
  return new errors.HTTPParserError(message);
}

/** Reads a head: its lines, in Latin-1, without the empty one. Throws an `HTTPParserError`. */
export function readHead(text: string): ReceivedHead {
  const end = lineEnd(text, 0);
  const line = STATUS_LINE.exec(text.slice(0, end));
  if (!line) throw fault('the first line of a response is wrong');
  const status = Number(line[2]);
  const headers = readHeaders(text, end + 2);
  return { status, headers, framing: framingOf(status, headers), keptMs: keptFor(line[1] === '1', headers) };
}

/**
 * An object that inherits no names. V8 gives those of one class and the same members a layout in common, and
 * one of `Object.create(null)` a table of its own.
 */
const OwnMembers = function OwnMembers() {
  // It has the members that it is given.
} as unknown as new () => Record<string, string | string[]>;
OwnMembers.prototype = Object.create(null) as object;

/** Reads lines of headers, as undici does: names in lower case, with a list of values if one is repeated. */
export function readHeaders(text: string, from = 0): ResponseHeaders {
  const headers = new OwnMembers();
  for (let at = from; at < text.length;) {
    const end = lineEnd(text, at);
    const colon = nameEnd(text, at, end);
    const name = text.slice(at, colon).toLowerCase();
    const value = valueOf(text, colon + 1, end);
    const known = headers[name];
    if (known === undefined) headers[name] = value;
    else if (typeof known === 'string') headers[name] = [known, value];
    else known.push(value);
    at = end + 2;
  }
  return headers;
}

/** Where a line ends. A lone CR or LF would end it for some readers only. */
function lineEnd(text: string, from: number): number {
  const found = text.indexOf('\r\n', from);
  return found < 0 ? text.length : found;
}

function nameEnd(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && IN_NAME[text.charCodeAt(at)] === 1) at += 1;
  if (at === from || at === end || text.charCodeAt(at) !== COLON) throw fault('a header has no valid name');
  return at;
}

function valueOf(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if ((code < SPACE && code !== HTAB) || code === DELETE) throw fault('a header has a control character');
  }
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === SPACE || code === HTAB;

/** A response with two lengths, or a length and chunks, ends elsewhere for other readers. */
function framingOf(status: number, headers: ResponseHeaders): Framing {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) {
    if (length !== undefined) throw fault('a response has a length and a transfer encoding');
    // Any other one is a body that nobody here can read.
    if (typeof coding !== 'string' || coding.toLowerCase() !== 'chunked')
      throw fault('the transfer encoding of a response is not supported');
    return 'chunks';
  }
  if (length === undefined) return 'close';
  if (typeof length !== 'string' || !LENGTH.test(length)) throw fault('the length of a response is wrong');
  return Number(length);
}

function keptFor(isPersistent: boolean, headers: ResponseHeaders): number | undefined {
  const { connection, 'keep-alive': kept } = headers;
  const asks = connection === undefined ? '' : String(connection).toLowerCase();
  // Usually the one word, or nothing.
  const words = asks === '' || asks === 'keep-alive' ? asks : asks.split(',').map((word) => word.trim());
  if (words.includes('close') || (!isPersistent && !words.includes('keep-alive'))) return 0;
  const seconds = typeof kept === 'string' ? KEPT.exec(kept)?.[1] : undefined;
  if (seconds === undefined) return undefined;
  return Math.max(0, Math.min(Number(seconds) * 1_000 - THRESHOLD_MS, LONGEST_KEPT_MS));
}

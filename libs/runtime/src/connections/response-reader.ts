import { type ReceivedHead, type ResponseHeaders, fault, readHead, readHeaders } from './response-head.js';

/** Gets the parts of a response. */
export interface ResponseParts {
  onHead(head: ReceivedHead): void;
  onData(bytes: Buffer): void;
  onEnd(trailers: ResponseHeaders): void;
}

/** The most bytes of a head, and of the trailers; the same as Node's and undici's. */
const HEAD_BYTES = 16_384;

/** The most characters of a chunk's size with its extensions. */
const SIZE_BYTES = 4_096;

/** The longest size of a chunk, in hexadecimal digits. */
const SIZE_DIGITS = 12;

const HEAD_END = Buffer.from('\r\n\r\n');
const LF = 10;
const CR = 13;
/** A size with its extensions (RFC 9112, section 7.1.1), without quoted values. */
const SIZE_LINE = /^([\da-f]+)(?:;[\w!#$%&'*+\-.^`|~]+(?:=[\w!#$%&'*+\-.^`|~]+)?)*$/i;

const NO_TRAILERS: ResponseHeaders = {};

/** The part of a response that comes next. */
type Part = 'head' | 'fixed' | 'size' | 'chunk' | 'chunk end' | 'trailers' | 'until close' | 'nothing';

/**
 * Reads the responses of one HTTP/1.1 connection, whatever pieces they arrive in, as strictly as Node's own
 * parser: what two readers may read in two ways is a fault.
 */
export class ResponseReader {
  private part: Part = 'nothing';
  /** The bytes that are left of the body or of the chunk. */
  private left = 0;
  /** The beginning of a line or a head that has not arrived whole. */
  private rest: Buffer | undefined;
  /** The number of the response, by which a callback that ends it is noticed. */
  private response = 0;

  constructor(private readonly parts: ResponseParts) {}

  /** Whether all of a response has been read, or none is awaited. */
  get isIdle(): boolean {
    return this.part === 'nothing';
  }

  /** Whether the head of the response has been read. */
  get isInBody(): boolean {
    return this.part !== 'nothing' && this.part !== 'head';
  }

  /** A response is awaited. */
  begin(): void {
    this.response += 1;
    this.part = 'head';
    this.rest = undefined;
  }

  /** Reads no further: the response is not wanted any more. */
  stop(): void {
    this.response += 1;
    this.part = 'nothing';
    this.rest = undefined;
  }

  /** Reads what has arrived. Throws an `HTTPParserError` if that is no response, or more than one. */
  read(arrived: Buffer): void {
    const { response } = this;
    let bytes = arrived;
    if (this.rest) {
      bytes = Buffer.concat([this.rest, arrived]);
      this.rest = undefined;
    }
    let at = 0;
    while (at < bytes.length) {
      if (this.part === 'nothing') throw fault('bytes after the end of a response');
      const next = this.step(bytes, at);
      // It was stopped, or another one has begun.
      if (this.response !== response) return;
      if (next === undefined) {
        this.rest = bytes.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** The connection has ended. Returns whether that ends the response. */
  ended(): boolean {
    if (this.part !== 'until close') return false;
    this.end(NO_TRAILERS);
    return true;
  }

  /** Reads one part. Returns where it ends, or undefined if it has not arrived whole. */
  private step(bytes: Buffer, at: number): number | undefined {
    switch (this.part) {
      case 'head':
        return this.readHead(bytes, at);
      case 'fixed':
      case 'chunk':
        return this.readBody(bytes, at);
      case 'until close':
        this.parts.onData(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case 'size':
        return this.readSize(bytes, at);
      case 'chunk end':
        return this.readChunkEnd(bytes, at);
      case 'trailers':
        return this.readTrailers(bytes, at);
      case 'nothing':
        return bytes.length;
    }
  }

  private readHead(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(HEAD_END, at);
    if ((end < 0 ? bytes.length : end) - at > HEAD_BYTES) throw fault('the head of a response is too long');
    if (end < 0) return undefined;
    const head = readHead(bytes.toString('latin1', at, end));
    const from = end + HEAD_END.length;
    if (head.status === 101) throw fault('the server switched to another protocol');
    if (head.status < 200) {
      if (head.keptMs === 0) throw fault('the connection ends before the response');
      // More than one may come before the response.
      return from;
    }
    const { framing } = head;
    const { response } = this;
    if (framing === 'chunks') this.part = 'size';
    else if (framing === 'close') this.part = 'until close';
    else {
      this.part = 'fixed';
      this.left = framing;
    }
    this.parts.onHead(head);
    if (this.response === response && framing === 0) this.end(NO_TRAILERS);
    return from;
  }

  private readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.left);
    this.left -= end - at;
    const isOver = this.left === 0;
    const { response } = this;
    if (isOver && this.part === 'chunk') this.part = 'chunk end';
    this.parts.onData(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    if (isOver && this.response === response && this.part === 'fixed') this.end(NO_TRAILERS);
    return end;
  }

  private readSize(bytes: Buffer, at: number): number | undefined {
    const lf = bytes.indexOf(LF, at);
    if ((lf < 0 ? bytes.length : lf) - at > SIZE_BYTES) throw fault('the size of a chunk is too long');
    if (lf < 0) return undefined;
    const line = lf > at && bytes[lf - 1] === CR ? bytes.toString('latin1', at, lf - 1) : '';
    const digits = SIZE_LINE.exec(line)?.[1];
    if (digits === undefined || digits.length > SIZE_DIGITS) throw fault('the size of a chunk is wrong');
    this.left = Number.parseInt(digits, 16);
    this.part = this.left === 0 ? 'trailers' : 'chunk';
    return lf + 1;
  }

  private readChunkEnd(bytes: Buffer, at: number): number | undefined {
    if (bytes[at] !== CR || (at + 1 < bytes.length && bytes[at + 1] !== LF))
      throw fault('a chunk is longer than its size');
    if (at + 1 >= bytes.length) return undefined;
    this.part = 'size';
    return at + 2;
  }

  private readTrailers(bytes: Buffer, at: number): number | undefined {
    if (bytes[at] === CR && bytes[at + 1] === LF) {
      this.end(NO_TRAILERS);
      return at + 2;
    }
    const end = bytes.indexOf(HEAD_END, at);
    if ((end < 0 ? bytes.length : end) - at > HEAD_BYTES)
      throw fault('the trailers of a response are too long');
    if (end < 0) return undefined;
    const trailers = readHeaders(bytes.toString('latin1', at, end));
    if ('content-length' in trailers || 'transfer-encoding' in trailers)
      throw fault('the trailers of a response say how long it is');
    this.end(trailers);
    return end + HEAD_END.length;
  }

  private end(trailers: ResponseHeaders): void {
    this.part = 'nothing';
    this.parts.onEnd(trailers);
  }
}

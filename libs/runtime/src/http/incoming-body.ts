import type { Readable } from 'node:stream';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import type { Incoming } from './incoming.js';
import type { BodyBounds, BodyBudget } from './body-budget.js';
import { JsonBounds } from '../json/json-bounds.js';
import { JSON_LIMITS } from '../json/json-reader.js';
import { routeOf } from './route.js';

const TOO_MUCH = {
  levels: `must have at most ${JSON_LIMITS.levels} levels`,
  members: `must have at most ${JSON_LIMITS.members} members in all`,
};

/** Chunks from this size on are kept as they are; smaller ones are joined to blocks. */
const LARGE_BYTES = 16_384;
const BLOCK_BYTES = 65_536;

/** Seconds after which there may be room for another body of the caller. */
const RETRY_SECONDS = 5;

export interface BodyOptions {
  readonly request: Incoming;
  readonly budget: BodyBudget;
  /** The most bytes, both as received and as decoded. */
  readonly limitBytes: number;
  /** Bodies other than JSON are limited in bytes only. */
  readonly isJson: boolean;
  /** Whether its bytes count until `free` is called, and not only until they have been received. */
  readonly isKept: boolean;
  /** Called once, with the bytes or with the problem. */
  readonly done: (problem: Error | null, bytes: Buffer) => void;
}

/** A body being received: its bytes, levels and members are limited before it is parsed. */
export class IncomingBody {
  private readonly startedMs = performance.now();
  /** `undefined` for another process of the deployment, which sends for any number of callers. */
  private readonly caller: string | undefined;
  private readonly bounds = new JsonBounds(JSON_LIMITS);
  private received = 0;
  private readonly pieces: Buffer[] = [];
  /** The used bytes of the last block. */
  private used = 0;
  private stream: Readable | undefined;

  constructor(private readonly options: BodyOptions) {
    const { request } = options;
    this.caller =
      routeOf(request)?.access === 'internal' ? undefined : (request.record.accountId ?? request.ip);
  }

  /**
   * Reads from `stream`: the request itself, or its decoder. A decoding error is a problem of the request.
   */
  readFrom(stream: Readable): void {
    this.stream = stream;
    stream.on('data', this.onData);
    stream.on('end', this.onEnd);
    stream.on('error', this.onError);
  }

  /** Whether a body of the announced size may be read; otherwise the body has been ended. */
  admits(bytes: number): boolean {
    if (bytes <= this.options.limitBytes) return this.hasRoom(bytes);
    this.end(new Problem('PAYLOAD_TOO_LARGE'));
    return false;
  }

  /** Rejects a body that takes too long for its size. */
  refuseLate(nowMs: number, { graceMs, bytesPerSecond }: BodyBounds): void {
    if (nowMs - this.startedMs > graceMs + (this.received / bytesPerSecond) * 1_000)
      this.end(new Problem('REQUEST_INCOMPLETE'));
  }

  /** Ends the body with a problem; further bytes are discarded. */
  end(problem: Error | null): void {
    if (this.stream) {
      this.stream.off('data', this.onData);
      this.stream.off('end', this.onEnd);
      this.stream.off('error', this.onError);
      if (problem) this.discard(this.stream);
    }
    const bytes = problem ? NOTHING : this.joined();
    this.pieces.length = 0;
    if (problem || !this.options.isKept) this.free();
    this.options.done(problem, bytes);
  }

  /** Ends counting the bytes of the body. */
  free(): void {
    this.options.budget.add(this.caller, -this.received);
    this.received = 0;
  }

  /** A decoder's remaining output and its errors are ignored. */
  private discard(stream: Readable): void {
    stream.on('error', ignore);
    if (stream !== this.options.request.raw) stream.destroy();
  }

  private readonly onData = (bytes: Buffer): void => {
    const { budget, limitBytes } = this.options;
    const { length } = bytes;
    if (this.received + length > limitBytes) {
      this.end(new Problem('PAYLOAD_TOO_LARGE'));
      return;
    }
    if (!this.hasRoom(length)) return;
    budget.add(this.caller, length);
    this.received += length;
    const exceeded = this.options.isJson ? this.bounds.exceededBy(bytes) : undefined;
    if (exceeded) this.end(invalidRequest([{ code: 'too_big', path: [], message: TOO_MUCH[exceeded] }]));
    else this.keep(bytes);
  };

  /**
   * Most bodies come in one chunk. Small chunks are joined, since a million of them take more than their
   * bytes.
   */
  private keep(bytes: Buffer): void {
    const last = this.pieces.at(-1);
    const room = last ? last.length - this.used : 0;
    if (last && bytes.length <= room) {
      bytes.copy(last, this.used);
      this.used += bytes.length;
    } else if (!last || bytes.length >= LARGE_BYTES) {
      this.closeLast();
      this.pieces.push(bytes);
      this.used = bytes.length;
    } else {
      this.closeLast();
      const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.pieces.push(block);
      this.used = bytes.copy(block);
    }
  }

  /** Drops the unused room of the last block. */
  private closeLast(): void {
    const last = this.pieces.pop();
    if (last) this.pieces.push(last.subarray(0, this.used));
  }

  private joined(): Buffer {
    const [first = NOTHING] = this.pieces;
    return this.pieces.length > 1 ? Buffer.concat(this.pieces, this.received) : first;
  }

  private readonly onEnd = (): void => this.end(null);

  private readonly onError = (error: Error): void => {
    const isClient = !this.options.request.raw.complete;
    const message = 'The body is not what its content-encoding says.';
    this.end(
      isClient
        ? new Problem('REQUEST_INCOMPLETE', { cause: error })
        : new Problem('INVALID_REQUEST', { message, cause: error }),
    );
  };

  private hasRoom(bytes: number): boolean {
    const exceeded = this.options.budget.exceededBy(this.caller, bytes);
    if (exceeded === undefined) return true;
    this.end(
      exceeded === 'caller'
        ? new Problem('TOO_MUCH_AT_ONCE', { retryAfterSeconds: RETRY_SECONDS })
        : new Problem('UNAVAILABLE', { retryAfterSeconds: RETRY_SECONDS }),
    );
    return false;
  }
}

const NOTHING = Buffer.alloc(0);

const ignore = (): void => undefined;

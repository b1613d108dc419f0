import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { Problem, invalidRequest } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import type { BodyBounds, BodyBudget } from './body-budget.js';
import { JsonBounds, type JsonLimits } from './json-bounds.js';

/**
 * Deeper than any schema of a tool and far from where a recursion runs out of stack; more members than a conversation
 * of five thousand messages in parts has.
 */
const LIMITS: JsonLimits = { levels: 500, members: 40_000 };

const TOO_MUCH = {
  levels: `Too deep: expected at most ${LIMITS.levels} levels`,
  members: `Too big: expected at most ${LIMITS.members} members in all`,
};

/** Seconds after which there may be room for another body of a caller. */
const RETRY_SECONDS = 5;

export interface BodyOptions {
  readonly request: FastifyRequest;
  readonly budget: BodyBudget;
  /** The most bytes, as they came and as decoded. */
  readonly limitBytes: number;
  /** Called once: with the text, or why there is none. */
  readonly done: (problem: Error | null, text: string) => void;
}

/** A body while it is received: bounded in bytes, levels and members before anything is made of it. */
export class IncomingBody {
  private readonly startedMs = performance.now();
  private readonly caller: string;
  private readonly bounds = new JsonBounds(LIMITS);
  private received = 0;
  private first: Buffer | undefined;
  private decoder: StringDecoder | undefined;
  private text = '';
  private stream: Readable | undefined;

  constructor(private readonly options: BodyOptions) {
    const { record, ip } = options.request;
    this.caller = record.accountId ?? ip;
  }

  /** Reads from `stream`: the request itself, or what decodes it. Faults of decoding are a problem of the request. */
  readFrom(stream: Readable): void {
    this.stream = stream;
    stream.on('data', this.onData);
    stream.on('end', this.onEnd);
    stream.on('error', this.onError);
  }

  /** Whether a body of the size that is announced may be read; where it may not, it has ended. */
  admits(bytes: number): boolean {
    if (bytes <= this.options.limitBytes) return this.hasRoom(bytes);
    this.end(new Problem('PAYLOAD_TOO_LARGE'));
    return false;
  }

  /** Refuses a body that takes too long for its size. */
  refuseLate(nowMs: number, { graceMs, bytesPerSecond }: BodyBounds): void {
    if (nowMs - this.startedMs > graceMs + (this.received / bytesPerSecond) * 1_000)
      this.end(new Problem('REQUEST_INCOMPLETE'));
  }

  /** Ends it with a problem; what still comes of it is thrown away. */
  end(problem: Error | null): void {
    if (this.stream) {
      this.stream.off('data', this.onData);
      this.stream.off('end', this.onEnd);
      this.stream.off('error', this.onError);
      if (problem) this.discard(this.stream);
    }
    this.options.budget.add(this.caller, -this.received);
    const { text } = this;
    this.text = '';
    this.first = undefined;
    this.options.done(problem, text);
  }

  /** Nobody waits for what a decoder still makes, and nobody hears how it ends. */
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
    const exceeded = this.bounds.exceededBy(bytes);
    if (exceeded) this.end(invalidRequest([{ code: 'too_big', path: [], message: TOO_MUCH[exceeded] }]));
    else this.keep(bytes);
  };

  /** Most bodies come in one piece, and then need no decoder that remembers half a character. */
  private keep(bytes: Buffer): void {
    if (this.decoder) this.text += this.decoder.write(bytes);
    else if (this.first) {
      this.decoder = new StringDecoder('utf8');
      this.text = this.decoder.write(this.first) + this.decoder.write(bytes);
      this.first = undefined;
    } else this.first = bytes;
  }

  private readonly onEnd = (): void => {
    if (this.decoder) this.text += this.decoder.end();
    else if (this.first) this.text = this.first.toString();
    this.end(null);
  };

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

const ignore = (): void => undefined;

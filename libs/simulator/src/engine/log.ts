import type { IncomingHttpHeaders } from 'node:http';

/** The state of a request when its client left. */
export type Phase = 'queued' | 'prefill' | 'decode';

/** A request whose client left before the response was complete. */
export interface Cancellation {
  readonly id: string;
  readonly model: string;
  /** ISO 8601. */
  readonly at: string;
  /** Tokens, or pieces of speech, written to the client or, without a stream, decoded for it. */
  readonly tokensDelivered: number;
  readonly stream: boolean;
  readonly phase: Phase;
}

export type Outcome = 'pending' | 'served' | 'refused' | 'fault' | 'cancelled';

/** A chat request as it reached the simulator. */
export interface LoggedRequest {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** Model as received; empty when the body could not be read. */
  readonly model: string;
  readonly stream: boolean;
  /** As received; credentials are masked except for their last four characters. */
  readonly headers: IncomingHttpHeaders;
  /** The body as received, cut to the configured length. */
  readonly body: string;
  readonly bodyBytes: number;
  readonly outcome: Outcome;
  /** HTTP status, or 0 when none was sent. */
  readonly status: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

export type LogEntry = { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] };

/** The most characters of bodies kept, over all entries. */
const MAX_BODY_TOTAL = 64 * 1024 * 1024;
const MAX_CANCELLATIONS = 10_000;
const SECRET_HEADERS = new Set(['authorization', 'x-api-key', 'api-key', 'cookie', 'proxy-authorization']);

/** The recent requests and cancellations, both bounded; the oldest are dropped first. */
export class RequestLog {
  private readonly entries = new Set<LogEntry>();
  private readonly cancelled: Cancellation[] = [];
  private bodyTotal = 0;

  constructor(
    readonly maxEntries: number,
    readonly maxBody: number,
  ) {}

  /** Keeps the entry, which the caller continues to fill in. */
  add(entry: LogEntry): void {
    if (this.maxEntries === 0) return;
    // A slice of a large string keeps all of it alive; the round trip through bytes copies it.
    if (entry.body.length > this.maxBody)
      entry.body = Buffer.from(entry.body.slice(0, this.maxBody)).toString();
    this.entries.add(entry);
    this.bodyTotal += entry.body.length;
    for (const oldest of this.entries) {
      if (this.entries.size <= this.maxEntries && this.bodyTotal <= MAX_BODY_TOTAL) break;
      this.entries.delete(oldest);
      this.bodyTotal -= oldest.body.length;
    }
  }

  addCancellation(cancellation: Cancellation): void {
    this.cancelled.push(cancellation);
    if (this.cancelled.length > MAX_CANCELLATIONS) this.cancelled.shift();
  }

  /** Oldest first. */
  requests(): LoggedRequest[] {
    return [...this.entries].map((entry) => ({ ...entry, headers: maskSecrets(entry.headers) }));
  }

  /** Oldest first. */
  cancellations(): Cancellation[] {
    return [...this.cancelled];
  }

  clear(): void {
    this.entries.clear();
    this.cancelled.length = 0;
    this.bodyTotal = 0;
  }
}

function maskSecrets(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const masked: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    masked[name] = SECRET_HEADERS.has(name) && typeof value === 'string' ? `***${value.slice(-4)}` : value;
  }
  return masked;
}

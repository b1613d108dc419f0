import { Kafka, type RetryOptions, type SASLOptions } from 'kafkajs';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/** How to reach the brokers. */
export interface KafkaConnection {
  /** `host:port` of some of them; they name the others. */
  readonly brokers: readonly string[];
  /** By TLS, as Node's certificates have it or these; default: no. */
  readonly ssl?: boolean | { readonly ca: string };
  readonly sasl?: SASLOptions;
}

export interface KafkaWaits {
  readonly requestTimeoutMs: number;
  readonly retry: RetryOptions;
}

export const CONNECT_MS = 1_000;
export const CLIENT_ID = 'svc';

/** kafkajs tells its own story at length; what an operator should know is told by those who use it. */
export const silentLog = () => (): void => undefined;

/** A new client asks the first broker of its list first, and one that hangs would hold up each of them. */
export function shuffled(brokers: readonly string[]): string[] {
  return brokers
    .map((broker) => ({ broker, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ broker }) => broker);
}

/** What a broker answered, as kafkajs names it, however deep it has wrapped it; nothing when it was no answer. */
export function brokerFault(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return 'type' in error && typeof error.type === 'string' ? error.type : brokerFault(error.cause);
}

export function kafkaClient({ brokers, ssl, sasl }: KafkaConnection, waits: KafkaWaits): Kafka {
  return new Kafka({
    clientId: CLIENT_ID,
    brokers: () => shuffled(brokers),
    logCreator: silentLog,
    connectionTimeout: CONNECT_MS,
    authenticationTimeout: 2 * CONNECT_MS,
    requestTimeout: waits.requestTimeoutMs,
    retry: waits.retry,
    ...(ssl !== undefined && { ssl: typeof ssl === 'boolean' ? ssl : { ...ssl } }),
    ...(sasl !== undefined && { sasl }),
  });
}

const queue = RequestQueue.prototype;
const schedule = queue.scheduleCheckPendingRequests;
/** An idle connection has nothing to look for; by itself it looks every millisecond. */
queue.scheduleCheckPendingRequests = function quietly(this: typeof queue): void {
  if (this.throttledUntil <= Date.now()) {
    if (this.pending.length === 0) return;
    this.throttledUntil = Date.now();
  }
  schedule.call(this);
};

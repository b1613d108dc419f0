import { Kafka, type Mechanism, type RetryOptions, type SASLOptions } from 'kafkajs';
import type { TlsOptions } from './broker-tls.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/** How to reach the brokers. */
export interface KafkaConnection {
  /** `host:port` of some brokers; they name the others. */
  readonly brokers: readonly string[];
  /** Whether to use TLS, with these options if given; default: no. */
  readonly ssl?: boolean | TlsOptions;
  readonly sasl?: SASLOptions | Mechanism;
}

export interface KafkaWaits {
  readonly requestTimeoutMs: number;
  readonly retry: RetryOptions;
}

export const CONNECT_MS = 1_000;
export const CLIENT_ID = 'svc';

/** Silences kafkajs, which logs a lot; its callers log what an operator should know. */
export const silentLog = () => (): void => undefined;

/** A new client tries the brokers in order, so a hanging first broker would delay every client. */
export function shuffled(brokers: readonly string[]): string[] {
  return brokers
    .map((broker) => ({ broker, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ broker }) => broker);
}

/**
 * The error type in a broker's response, as kafkajs names it, however deeply wrapped; undefined without a
 * response.
 */
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
    ...(ssl !== undefined && { ssl }),
    ...(sasl !== undefined && { sasl }),
  });
}

const queue = RequestQueue.prototype;
const schedule = queue.scheduleCheckPendingRequests;
/** An idle connection has nothing to check; by default kafkajs checks every millisecond. */
function quietly(this: typeof queue): void {
  if (this.throttledUntil <= Date.now()) {
    if (this.pending.length === 0) return;
    this.throttledUntil = Date.now();
  }
  schedule.call(this);
}
queue.scheduleCheckPendingRequests = quietly;

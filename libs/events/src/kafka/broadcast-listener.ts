import { retrying } from '@svc/runtime';
import type { KafkaMessage } from 'kafkajs';
import type { SendBroadcast } from '../delivery/event-strategy.js';
import type { EventsLogger } from '../delivery/logger.js';
import type { BroadcastSubscription } from '../delivery/on-every-process.js';
import { deliver } from '../delivery/on-events.js';
import { parseEvents } from '../delivery/parse-events.js';
import { eventOf } from './fetched-batches.js';
import type { KafkaConnection } from './kafka-client.js';
import { PartitionReader } from './partition-reader.js';

const AGAIN_MS = 200;
/** How often listeners are notified while the log can't be read: their state must not get older than 1 s. */
const REPORT_MS = 300;
/** How often the number of partitions is checked. */
const LOOK_MS = 60_000;

export interface BroadcastListenerOptions {
  readonly subscription: BroadcastSubscription;
  readonly connection: KafkaConnection;
  readonly send: SendBroadcast;
  readonly logger: EventsLogger;
}

/** Reads one topic for this process alone, from its end on, and reports when events may have been missed. */
export class BroadcastListener {
  readonly topic: string;
  private readonly options: BroadcastListenerOptions;
  private readonly stopping = new AbortController();
  /** The next offset by partition; empty before the first start. */
  private readonly next = new Map<number, bigint>();
  private running: Promise<void> | undefined;
  /** Serializes the calls of the handler. */
  private turn: Promise<unknown> = Promise.resolve();
  private failures = 0;
  private reporting: NodeJS.Timeout | undefined;
  private isDelivering = false;
  private isListening = false;

  constructor(options: BroadcastListenerOptions) {
    this.options = options;
    this.topic = options.subscription.broadcast.topic;
  }

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    this.reporting = setInterval(() => void this.reportGap(), REPORT_MS); // Never rejects.
    const onFailure = (error: unknown): void => {
      if (!signal.aborted) this.noteFailure(error);
    };
    // It rejects only when it is stopped.
    await retrying(() => this.listen(), { firstMs: AGAIN_MS, lastMs: AGAIN_MS, signal, onFailure }).catch(
      () => undefined,
    );
    clearInterval(this.reporting);
  }

  /** Listens until it is stopped or fails. */
  private async listen(): Promise<void> {
    const reader = new PartitionReader(this.options.connection, this.topic);
    const ended = Promise.withResolvers<void>();
    const end = (): void => ended.resolve();
    this.stopping.signal.addEventListener('abort', end, { once: true });
    const look = setInterval(() => {
      const more = new Error('the topic has got other partitions');
      reader.isWhole().then((isWhole) => (isWhole ? undefined : ended.reject(more)), ended.reject);
    }, LOOK_MS);
    try {
      this.place(await reader.open());
      // Events before this point may have been missed.
      await this.deliver({ events: [], missed: true });
      this.failures = 0;
      this.isListening = true;
      const following = reader.follow(
        (partition) => this.next.get(partition) ?? 0n,
        (partition, messages, next) => this.take(partition, messages, next),
      );
      await Promise.race([following, ended.promise]);
      await this.turn;
    } finally {
      // Before closing the reader, which may take long.
      this.isListening = false;
      void this.reportGap();
      clearInterval(look);
      this.stopping.signal.removeEventListener('abort', end);
      await reader.close();
    }
  }

  /** Starts at the end, and after a restart continues where it was, if that still exists. */
  private place({ first, next }: Awaited<ReturnType<PartitionReader['open']>>): void {
    const isNew = this.next.size === 0;
    for (const [partition, end] of next) {
      const beginning = first.get(partition) ?? end;
      const had = this.next.get(partition) ?? (isNew ? end : beginning);
      // The topic may have been recreated, or its old events removed.
      this.next.set(partition, had > end ? end : had < beginning ? beginning : had);
    }
  }

  private async take(partition: number, messages: readonly KafkaMessage[], next: bigint): Promise<void> {
    const { subscription, logger } = this.options;
    const { events, unreadable } = parseEvents(messages.map(eventOf), subscription.broadcast);
    if (unreadable.length > 0)
      logger.error(`${unreadable.length} events of ${this.topic} could not be decoded`);
    // The content of an unreadable event is unknown.
    const missed = unreadable.length > 0;
    if (missed || events.length > 0) await this.deliver({ events, missed });
    this.next.set(partition, next);
  }

  private deliver(news: Parameters<SendBroadcast>[0]): Promise<void> {
    const delivered = this.turn.then(() => deliver(news, this.options.send));
    this.turn = delivered.catch(() => undefined);
    return delivered;
  }

  /**
   * Reports that events may be late. The next start repeats it, so a handler that fails here loses nothing.
   */
  private async reportGap(): Promise<void> {
    if (this.isListening || this.isDelivering || this.stopping.signal.aborted) return;
    this.isDelivering = true;
    await this.deliver({ events: [], missed: true }).catch(() => undefined);
    this.isDelivering = false;
  }

  private noteFailure(error: unknown): void {
    this.failures += 1;
    if (this.failures > 1) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.options.logger.error(`Cannot read events from ${this.topic}: ${reason}`);
  }
}

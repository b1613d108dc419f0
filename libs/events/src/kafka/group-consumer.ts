import { setTimeout as sleep } from 'node:timers/promises';
import { pause, retrying, within } from '@svc/runtime';
import type { Consumer as KafkaJSConsumer, EachBatchPayload, Kafka, PartitionOffset } from 'kafkajs';
import type { Consumer, ConsumerState, SendBatch } from '../delivery/event-strategy.js';
import type { EventsLogger } from '../delivery/logger.js';
import { type Subscription, deliver } from '../delivery/on-events.js';
import { tracedBatch } from '../delivery/batch-trace.js';
import type { Positions } from '../delivery/lag-watch.js';
import { type LoggedEvent, deadTopic, parseEvents } from '../delivery/parse-events.js';
import { FetchedBatches } from './fetched-batches.js';
import { MemberHeartbeat } from './heartbeat.js';
import { brokerFault } from './kafka-client.js';
import type { KafkaEventLog } from './kafka-event-log.js';
import './stopped-runner.js';
import type { TopicProgress } from './topic-progress.js';

/** Readers of settled charges wait for this consumer, so it must recover soon after an outage. */
const DELAYS = { firstMs: 100, lastMs: 3_000 };
/** The delay before a broker that is briefly down is called again. */
const BROKER_RETRY_MS = 100;
/** The delay before a failed kafkajs consumer is replaced. */
const REOPEN_MS = 300;
/** How long to gather events after a small batch: a batch costs its handler about as much as its events. */
const GATHER_MS = 100;
const BEAT_MS = 1_000;
/**
 * How long other members wait for one that is handling a batch. A handler's own waits must be over by then.
 */
const REBALANCE_MS = 30_000;
/** A join usually waits for one session of a dead member, or for a running batch. */
const SESSIONS_UNTIL_LATE = 2;
/** How long a hanging leader is retried before the metadata is refreshed. */
const METADATA_MS = 3_000;
const FETCH_WAIT_MS = 500;
const FETCH_BYTES = 8 * 1024 * 1024;
const FETCH_PARTITION_BYTES = 1024 * 1024;
/** More than any topic's partitions, so that a whole fetch goes to the handler together. */
const PARTITIONS_AT_ONCE = 256;

export interface GroupConsumerOptions {
  readonly subscription: Subscription;
  readonly kafka: Kafka;
  /** Stores unreadable events. */
  readonly log: KafkaEventLog;
  readonly progress: TopicProgress;
  readonly send: SendBatch;
  readonly batchMax: number;
  /** A member without heartbeats for this long is removed from the group. */
  readonly sessionMs: number;
  readonly stopMs: number;
  readonly logger: EventsLogger;
}

/** The result of one fetch. */
interface Fetched {
  readonly payloads: readonly EachBatchPayload[];
  readonly first: EachBatchPayload;
  /** The value of `#joins` at the fetch. */
  readonly joins: number;
}

/** Fetched events and their parsed form. */
interface Parsed extends ReturnType<typeof parseEvents> {
  readonly fetched: readonly LoggedEvent[];
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Reads one topic for one group, together with the group's other processes. Each process has some of the
 * partitions, so each key is handled by one of them, in order. An offset is committed after the handler has
 * returned.
 */
export class GroupConsumer implements Consumer {
  readonly topic: string;
  readonly group: string;
  /** Includes the topic, because members of one Kafka group must subscribe to the same topics. */
  private readonly groupId: string;
  private readonly options: GroupConsumerOptions;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private arrived: { readonly payloads: EachBatchPayload[]; readonly taken: Promise<void> } | undefined;
  private heartbeat: MemberHeartbeat | undefined;
  private hurry = Promise.withResolvers<void>();
  private handled = 0;
  private dead = 0;
  private failures = 0;
  private waitingSinceMs: number | undefined;
  /** How often the group was joined. */
  private joins = 0;
  /** Since when the group's coordinator has not responded to commits. */
  private unresponsiveSinceMs: number | undefined;
  /** Abandons the current consumer. */
  private giveUp: (reason: Error) => void = () => undefined;

  constructor(options: GroupConsumerOptions) {
    this.options = options;
    this.topic = options.subscription.event.topic;
    this.group = options.subscription.group;
    this.groupId = `${this.group}.${this.topic}`;
  }

  get state(): ConsumerState {
    const { group, topic } = this;
    return { group, topic, handled: this.handled, dead: this.dead, failures: this.failures };
  }

  get unhandledSinceMs(): number | undefined {
    return this.waitingSinceMs;
  }

  /** Joins the group in the background, and again whenever it has dropped out. */
  start(): void {
    this.running ??= this.run();
  }

  /** Takes no further batch, and resolves when the current one is done or takes too long. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    // A batch held by a hanging handler should go to another process.
    this.heartbeat?.stop();
  }

  async positions(): Promise<Positions> {
    const { progress } = this.options;
    const group = { topic: this.topic, groupId: this.groupId };
    const [ends, handled] = await Promise.all([progress.ends(this.topic), progress.committed(group)]);
    return { ends, handled };
  }

  async drained(deadlineMs: number): Promise<void> {
    const { progress } = this.options;
    const deadline = Date.now() + deadlineMs;
    const group = { topic: this.topic, groupId: this.groupId };
    const ends = await this.insist(() => progress.ends(this.topic), deadline);
    this.hurry.resolve();
    if (await this.insist(() => progress.reached(group, ends, deadline), deadline)) return;
    throw new Error(`${this.group} has not handled all of ${this.topic} within ${deadlineMs} ms`);
  }

  /** Retries while a broker is briefly down. */
  private async insist<Result>(ask: () => Promise<Result>, deadline: number): Promise<Result> {
    return retrying(ask, {
      firstMs: BROKER_RETRY_MS,
      lastMs: BROKER_RETRY_MS,
      deadlineMs: deadline - Date.now(),
    });
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await this.consume();
      } catch (error) {
        this.failed(error, REOPEN_MS);
      }
      await sleep(REOPEN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Consumes until it is stopped; throws if kafkajs has given up. */
  private async consume(): Promise<void> {
    const consumer = this.open();
    const ended = Promise.withResolvers<void>();
    const end = (): void => ended.resolve();
    this.stopping.signal.addEventListener('abort', end, { once: true });
    this.giveUp = ended.reject;
    this.unresponsiveSinceMs = undefined;
    // kafkajs tries to connect for minutes without logging anything.
    const late = setTimeout(() => this.warnOfLateJoin(), SESSIONS_UNTIL_LATE * this.options.sessionMs);
    consumer.on(consumer.events.GROUP_JOIN, () => {
      clearTimeout(late);
      this.joins += 1;
      this.unresponsiveSinceMs = undefined;
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => ended.reject(payload.error));
    try {
      await Promise.race([this.begin(consumer), ended.promise]);
      await ended.promise;
    } finally {
      clearTimeout(late);
      this.stopping.signal.removeEventListener('abort', end);
      await within(this.options.stopMs, consumer.disconnect()).catch(() => undefined);
    }
  }

  private warnOfLateJoin(): void {
    const { sessionMs, logger } = this.options;
    const lateMs = SESSIONS_UNTIL_LATE * sessionMs;
    logger.warn(
      `${this.group} has not joined its Kafka group within ${lateMs} ms and handles no ${this.topic} until it has: ` +
        'are the brokers of KAFKA_BROKERS up, and does the topic exist?',
    );
  }

  private open(): KafkaJSConsumer {
    const { kafka, sessionMs } = this.options;
    return kafka.consumer({
      groupId: this.groupId,
      sessionTimeout: sessionMs,
      rebalanceTimeout: REBALANCE_MS,
      heartbeatInterval: Math.min(BEAT_MS, sessionMs / 3),
      metadataMaxAge: METADATA_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytes: FETCH_BYTES,
      maxBytesPerPartition: FETCH_PARTITION_BYTES,
      allowAutoTopicCreation: false,
      // A member that retries keeps its place in the group; one that rejoins waits for its own old session.
      retry: {
        retries: 1_000,
        initialRetryTime: 100,
        maxRetryTime: 500,
        restartOnFailure: () => Promise.resolve(false),
      },
    });
  }

  private async begin(consumer: KafkaJSConsumer): Promise<void> {
    await consumer.connect();
    await consumer.subscribe({ topics: [this.topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
      eachBatch: (payload) => this.gather(payload),
    });
  }

  /** Collects the partitions of one fetch, which arrive in one turn of the event loop. */
  private gather(payload: EachBatchPayload): Promise<void> {
    if (!this.arrived) {
      const payloads: EachBatchPayload[] = [];
      const joins = this.joins;
      const turn = new Promise<void>((resolve) => setImmediate(resolve));
      const taken = turn.then(() => {
        this.arrived = undefined;
        return this.take({ payloads, first: payload, joins });
      });
      this.arrived = { payloads, taken };
    }
    this.arrived.payloads.push(payload);
    return this.arrived.taken;
  }

  /** Handles the fetched events or part of them; the rest is fetched again. */
  private async take({ payloads, first, joins }: Fetched): Promise<void> {
    const { batchMax } = this.options;
    const hurry = (this.hurry = Promise.withResolvers<void>());
    const heartbeat = (this.heartbeat = new MemberHeartbeat(first));
    const batches = new FetchedBatches(payloads);
    try {
      for (;;) {
        this.waitingSinceMs = batches.oldestMs;
        const chunk = batches.next(batchMax);
        if (chunk.events.length === 0) break;
        const { events, unreadable } = parseEvents(chunk.events, this.options.subscription.event);
        if (!(await this.handle({ fetched: chunk.events, events, unreadable }, heartbeat))) return;
        // After another join, kafkajs would commit old offsets under the new generation, where another member
        // may be further.
        if (this.joins !== joins) return;
        await this.commit(first, chunk.committed);
        this.handled += events.length;
        this.dead += unreadable.length;
        this.failures = 0;
        // Only committed offsets are resolved; the rest is fetched again. For a key without further events,
        // no later commit would cover them.
        for (const { payload, lastOffset } of chunk.ends) payload.resolveOffset(lastOffset);
        // The other members wait for this one.
        if (heartbeat.isRebalancing) return;
      }
      if (batches.size < batchMax) await pause(GATHER_MS, this.stopping.signal, hurry.promise);
    } finally {
      // What is left is read again, here or by another member.
      this.waitingSinceMs = undefined;
      heartbeat.stop();
    }
  }

  /** Passes events to the handler until it succeeds. Returns false if this member no longer owns them. */
  private async handle(parsed: Parsed, heartbeat: MemberHeartbeat): Promise<boolean> {
    const { signal } = this.stopping;
    if (heartbeat.isLost) return false;
    try {
      await retrying(() => this.send(parsed), {
        ...DELAYS,
        signal,
        isFinal: () => heartbeat.isRebalancing || heartbeat.isLost,
        onFailure: (error, waitMs) => this.failed(error, waitMs),
      });
    } catch {
      return false;
    }
    if (heartbeat.isLost && !signal.aborted) return false;
    const dead = parsed.unreadable.length;
    if (dead > 0)
      this.options.logger.error(`${dead} unreadable events were moved to ${deadTopic(this.topic)}`);
    return true;
  }

  private async send({ fetched, events, unreadable }: Parsed): Promise<void> {
    const { send, log } = this.options;
    if (events.length > 0)
      await tracedBatch({ system: 'kafka', topic: this.topic, group: this.group }, fetched, () =>
        deliver(events, send),
      );
    await Promise.all(
      unreadable.map(({ key, payload }) => log.append({ topic: deadTopic(this.topic), key, payload })),
    );
  }

  private async commit(first: EachBatchPayload, partitions: PartitionOffset[]): Promise<void> {
    try {
      await first.commitOffsetsIfNecessary({ topics: [{ topic: this.topic, partitions }] });
      this.unresponsiveSinceMs = undefined;
    } catch (error) {
      this.failures += 1;
      this.options.logger.error(`${this.group} could not commit ${this.topic}: ${reasonOf(error)}`);
      this.noteUncommitted(error);
      throw error;
    }
  }

  /** kafkajs looks up the group's coordinator only when it joins, so it would call a dead broker forever. */
  private noteUncommitted(error: unknown): void {
    const now = performance.now();
    this.unresponsiveSinceMs =
      brokerFault(error) === undefined ? (this.unresponsiveSinceMs ?? now) : undefined;
    if (this.unresponsiveSinceMs === undefined || now - this.unresponsiveSinceMs < this.options.sessionMs)
      return;
    this.giveUp(new Error(`the coordinator of ${this.groupId} does not respond`, { cause: error }));
  }

  private failed(error: unknown, waitMs: number): void {
    this.failures += 1;
    this.options.logger.error(
      `${this.group} failed to handle ${this.topic} and retries in ${waitMs} ms: ${reasonOf(error)}`,
    );
  }
}

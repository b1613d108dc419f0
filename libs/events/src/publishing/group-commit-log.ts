import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { EventLog, type EventDefinition, eventText } from '@svc/contracts/messages';
import { SPAN_KIND, type Step, beginStep, events, untraced } from '@svc/telemetry';

/** An event as stored. */
interface WireEvent {
  readonly topic: string;
  readonly key: string;
  /** JSON. */
  readonly payload: string;
  /** The step that published it, if its trace is recorded. */
  readonly traceparent?: string | null;
}

/** An event on its way into the log. What this process has stored reaches its own consumers as it is. */
export interface PublishedEvent {
  readonly topic: string;
  readonly key: string;
  /** JSON; empty once it is stored, if `original` has the value. */
  payload: string;
  traceparent: string | null;
  /** What the payload was made from, and as which event; absent if it was published as JSON. */
  readonly original: EventDefinition | undefined;
  readonly value: unknown;
}

/** Events that become durable together, all or none. */
export class PublishBatch {
  readonly events: PublishedEvent[] = [];
  chars = 0;
  private readonly settled = Promise.withResolvers<void>();
  private readonly timer: NodeJS.Timeout;
  private hasEnded = false;

  /** All waiting calls are rejected after `deadlineMs`, the deadline of the first one. */
  constructor(deadlineMs: number, onExpired: (batch: PublishBatch) => void) {
    this.timer = setTimeout(() => onExpired(this), deadlineMs);
  }

  get size(): number {
    return this.events.length;
  }

  /** One promise serves all events of the batch. */
  get stored(): Promise<void> {
    return this.settled.promise;
  }

  add(event: PublishedEvent): void {
    this.events.push(event);
    this.chars += event.payload.length;
  }

  /** Whether its callers have a result. */
  get isSettled(): boolean {
    return this.hasEnded;
  }

  resolve(): void {
    this.settle();
    this.settled.resolve();
    for (const event of this.events) if (event.original) event.payload = '';
  }

  reject(error: Error): void {
    this.settle();
    this.settled.reject(error);
  }

  private settle(): void {
    clearTimeout(this.timer);
    this.hasEnded = true;
  }
}

/** An event could not be stored. After a timeout it may still have been stored. */
export class EventNotStored extends Error {
  override readonly name = 'EventNotStored';
}

export interface GroupCommitOptions {
  /** Deadline of `publish`; default: 5 s. */
  readonly publishMs?: number;
  /** Maximum number of events waiting to be stored; further ones are rejected. Default: 50,000. */
  readonly maxPending?: number;
}

export interface GroupCommitBounds {
  /** Minimum time between the starts of commits under load. */
  readonly commitEveryMs: number;
  /** Maximum payload characters of one commit. */
  readonly batchCharsMax: number;
  /** Maximum payload characters of one event. */
  readonly eventCharsMax: number;
}

const BATCH_EVENTS_MAX = 1_000;
const PENDING_CHARS_MAX = 128 * 1024 * 1024;
export const PUBLISH_MS = 5_000;
const NOT_PRINTABLE = /\p{Cc}/u;

/**
 * A log whose main cost is the commit. Events that arrive during a commit share the next one. There is one
 * commit at a time, so events are stored in the order of the calls.
 */
export abstract class GroupCommitLog<Stored = unknown> extends EventLog {
  private readonly publishMs: number;
  private readonly maxPending: number;
  private readonly bounds: GroupCommitBounds;
  /** Oldest first; the last one accepts new events. */
  private readonly batches: PublishBatch[] = [];
  private writing: Promise<void> | undefined;
  private pending = 0;
  private pendingChars = 0;
  private closed = false;
  private readonly endWatch: readonly (() => void)[];
  private isFailing = false;
  /** When the last commit began. */
  private commitMs = Number.NEGATIVE_INFINITY;

  constructor(
    { publishMs = PUBLISH_MS, maxPending = 50_000 }: GroupCommitOptions,
    bounds: GroupCommitBounds,
  ) {
    super();
    this.publishMs = publishMs;
    this.maxPending = maxPending;
    this.bounds = bounds;
    this.endWatch = [
      events.pending.observe(() => [[this.pending, this.system]]),
      events.failing.observe(() => [[this.isFailing ? 1 : 0, this.system]]),
    ];
  }

  /** Its name in telemetry. */
  protected abstract readonly system: 'kafka' | 'postgresql';

  /**
   * Makes the batch durable. It may stop trying once the batch is settled, because its callers no longer
   * wait.
   */
  protected abstract store(batch: PublishBatch): Promise<Stored>;

  /** Called with each durable batch, and what its store returned. */
  protected onStored(_batch: PublishBatch, _stored: Stored): void {
    // Optional.
  }

  /**
   * Does not check the payload: it is typed, and consumers parse it. Not `async`, as this is on the hot path.
   */
  publish<Payload>(event: EventDefinition<Payload>, payload: Payload): Promise<void> {
    try {
      const key = event.key(payload);
      if (key === '' || NOT_PRINTABLE.test(key)) throw new TypeError('The key of an event must be printable');
      return this.add({
        topic: event.topic,
        key,
        payload: eventText(event, payload),
        traceparent: null,
        original: event as EventDefinition,
        value: payload,
      });
    } catch (error) {
      return Promise.reject(
        error instanceof Error ? error : new EventNotStored('The event has no JSON', { cause: error }),
      );
    }
  }

  /** Publishes an event that is already serialized. */
  append({ topic, key, payload, traceparent = null }: WireEvent): Promise<void> {
    return this.add({ topic, key, payload, traceparent, original: undefined, value: undefined });
  }

  private add(event: PublishedEvent): Promise<void> {
    const { topic, payload } = event;
    const fault = this.faultOf(payload);
    if (fault !== undefined) return Promise.reject(new EventNotStored(fault));
    const batch = this.openBatch(payload.length);
    const step = this.beginSend(topic);
    if (step?.isSampled) event.traceparent ??= step.traceparent;
    batch.add(event);
    this.pending += 1;
    this.pendingChars += payload.length;
    this.writing ??= untraced(() => this.write());
    const { stored } = batch;
    if (step)
      stored.then(
        () => step.end(),
        (error: unknown) => step.fail(error),
      );
    return stored;
  }

  /** Rejects new events, and stores the waiting ones within their deadline. */
  protected async drain(): Promise<void> {
    this.closed = true;
    await this.writing;
    for (const end of this.endWatch) end();
  }

  private beginSend(topic: string): Step | undefined {
    const step = beginStep(`send ${topic}`);
    if (!step) return undefined;
    step.kind = SPAN_KIND.producer;
    step.set({
      'messaging.system': this.system,
      'messaging.operation.type': 'send',
      'messaging.destination.name': topic,
    });
    return step;
  }

  private faultOf(text: string): string | undefined {
    if (this.closed) return 'The event log is closed';
    if (text.length > this.bounds.eventCharsMax)
      return `The event has ${text.length} characters, which is too many`;
    const isFull = this.pending >= this.maxPending || this.pendingChars >= PENDING_CHARS_MAX;
    return isFull ? 'Too many events wait to be stored' : undefined;
  }

  private openBatch(chars: number): PublishBatch {
    const last = this.batches.at(-1);
    if (last && last.size < BATCH_EVENTS_MAX && last.chars + chars <= this.bounds.batchCharsMax) return last;
    const batch = new PublishBatch(this.publishMs, (expired) => this.expire(expired));
    this.batches.push(batch);
    return batch;
  }

  private async write(): Promise<void> {
    await this.gather();
    for (let batch = this.batches.shift(); batch; batch = this.batches.shift()) {
      this.commitMs = performance.now();
      try {
        const stored = await this.store(batch);
        this.response(batch, '');
        batch.resolve();
        this.onStored(batch, stored);
      } catch (error) {
        this.response(batch, 'not stored');
        batch.reject(new EventNotStored('The event could not be stored', { cause: error }));
      }
      this.forget(batch);
      if (this.batches.length > 0) await this.gather();
    }
    this.writing = undefined;
  }

  /** Called by a store that keeps retrying, so that the failure is reported. */
  protected noteFailure(): void {
    this.isFailing = true;
  }

  private response(batch: PublishBatch, fault: string): void {
    const { system } = this;
    events.stored.record((performance.now() - this.commitMs) / 1_000, system, fault);
    events.batchSize.record(batch.size, system);
    this.isFailing = fault !== '';
  }

  /**
   * Lets events share a commit: those of this turn of the event loop, and under load those of the next turns.
   */
  private async gather(): Promise<void> {
    const waitMs = this.commitMs + this.bounds.commitEveryMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    else await nextTurn();
  }

  /** A batch being written is rejected too: whether it is stored is unknown. */
  private expire(batch: PublishBatch): void {
    const index = this.batches.indexOf(batch);
    if (index >= 0) {
      this.batches.splice(index, 1);
      this.forget(batch);
    }
    batch.reject(new EventNotStored(`The event was not stored within ${this.publishMs} ms`));
  }

  private forget(batch: PublishBatch): void {
    this.pending -= batch.size;
    this.pendingChars -= batch.chars;
  }
}

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { EventLog, type EventDefinition } from '@svc/contracts';
import { createPool } from '@svc/storage';
import { type EventsLogger, silent } from './logger.js';
import { appendBatch } from './postgres-events.store.js';
import { PublishBatch } from './publish-batch.js';

/** An event could not be stored. After a timeout it may have been stored nevertheless. */
export class EventNotStored extends Error {
  override readonly name = 'EventNotStored';
}

export interface PostgresEventLogOptions {
  readonly url: string;
  /** How long `publish` may take; default: 5 s. */
  readonly publishMs?: number;
  /** Events that may wait to be stored before further ones are refused; default: 50,000. */
  readonly maxPending?: number;
  readonly logger?: EventsLogger;
}

const BATCH_EVENTS_MAX = 1_000;
const BATCH_CHARS_MAX = 4 * 1024 * 1024;
const PENDING_CHARS_MAX = 128 * 1024 * 1024;
/** Under load commits begin at least this far apart, since each costs as much as a dozen events. */
const COMMIT_EVERY_MS = 5;
/** The pool's client gives up two seconds after the server, and both have to be over when waiters are refused. */
const STATEMENT_MARGIN_MS = 2_000;
const NOT_PRINTABLE = /\p{Cc}/u;

/**
 * The event log in a PostgreSQL table. Whatever arrives while a commit is under way goes into the next one, so that
 * the cost of a commit is shared. One connection writes, and writers take turns, so ids become visible in order.
 */
export class PostgresEventLog extends EventLog {
  readonly #pool;
  readonly #publishMs: number;
  readonly #maxPending: number;
  readonly #listeners = new Set<(topics: ReadonlySet<string>) => void>();
  /** Oldest first; the last one takes new events. */
  readonly #batches: PublishBatch[] = [];
  #writing: Promise<void> | undefined;
  #pending = 0;
  #pendingChars = 0;
  #closed = false;
  /** When the last commit began. */
  #commitMs = Number.NEGATIVE_INFINITY;

  constructor({ url, publishMs = 5_000, maxPending = 50_000, logger = silent }: PostgresEventLogOptions) {
    super();
    this.#publishMs = publishMs;
    this.#maxPending = maxPending;
    this.#pool = createPool(url, {
      name: 'events (publish)',
      max: 1,
      connectMs: publishMs,
      statementMs: Math.max(publishMs - STATEMENT_MARGIN_MS, 500),
      logger: { info: () => undefined, warn: (message) => logger.warn(message) },
    });
  }

  /** Does not check the payload: its type does, and consumers parse it. Not `async`, as this is on the hot path. */
  publish<Payload>(event: EventDefinition<Payload>, payload: Payload): Promise<void> {
    try {
      if (this.#closed) throw new EventNotStored('The event log is closed');
      if (this.#pending >= this.#maxPending || this.#pendingChars >= PENDING_CHARS_MAX) {
        throw new EventNotStored('Too many events wait to be stored');
      }
      const key = event.key(payload);
      if (key === '' || NOT_PRINTABLE.test(key))
        throw new TypeError('The key of an event has to be printable');
      const text = JSON.stringify(payload);
      const batch = this.#openBatch();
      batch.add(event.topic, key, text);
      this.#pending += 1;
      this.#pendingChars += text.length;
      this.#writing ??= this.#write();
      return batch.stored;
    } catch (error) {
      return Promise.reject(
        error instanceof Error ? error : new EventNotStored('The event has no JSON', { cause: error }),
      );
    }
  }

  /** Calls back with the topics of each commit of this process. Returns what ends that. */
  onStored(listener: (topics: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Refuses new events and stores those that wait, within their deadline. */
  async onApplicationShutdown(): Promise<void> {
    this.#closed = true;
    await this.#writing;
    await this.#pool.end();
  }

  #openBatch(): PublishBatch {
    const last = this.#batches.at(-1);
    if (last && last.size < BATCH_EVENTS_MAX && last.chars < BATCH_CHARS_MAX) return last;
    const batch = new PublishBatch(this.#publishMs, (expired) => this.#expire(expired));
    this.#batches.push(batch);
    return batch;
  }

  async #write(): Promise<void> {
    await this.#gather();
    for (let batch = this.#batches.shift(); batch; batch = this.#batches.shift()) {
      this.#commitMs = performance.now();
      try {
        await appendBatch(this.#pool, batch);
        batch.resolve();
        this.#announce(batch);
      } catch (error) {
        batch.reject(new EventNotStored('The event could not be stored', { cause: error }));
      }
      this.#forget(batch);
      if (this.#batches.length > 0) await this.#gather();
    }
    this.#writing = undefined;
  }

  /** Lets others share the commit: those of this turn of the event loop, and under load those of the next ones. */
  async #gather(): Promise<void> {
    const waitMs = this.#commitMs + COMMIT_EVERY_MS - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    else await nextTurn();
  }

  /** A batch under way is refused as well: nobody knows then whether it is stored. */
  #expire(batch: PublishBatch): void {
    const index = this.#batches.indexOf(batch);
    if (index >= 0) {
      this.#batches.splice(index, 1);
      this.#forget(batch);
    }
    batch.reject(new EventNotStored(`The event was not stored within ${this.#publishMs} ms`));
  }

  #forget(batch: PublishBatch): void {
    this.#pending -= batch.size;
    this.#pendingChars -= batch.chars;
  }

  #announce({ topics }: PublishBatch): void {
    if (this.#listeners.size === 0) return;
    const distinct = new Set(topics);
    for (const listener of this.#listeners) listener(distinct);
  }
}

import { createPool } from '@svc/storage';
import { type EventsLogger, silent } from '../delivery/logger.js';
import {
  GroupCommitLog,
  type GroupCommitOptions,
  PUBLISH_MS,
  type PublishBatch,
} from '../publishing/group-commit-log.js';
import { appendBatch } from './postgres-events.store.js';
import type { StoredBatch } from './recent-events.js';

type BatchPlace = Pick<StoredBatch, 'ids' | 'beganAtMs'>;

export interface PostgresEventLogOptions extends GroupCommitOptions {
  readonly url: string;
  readonly logger?: EventsLogger;
}

const BOUNDS = {
  // A commit costs as much as a dozen events.
  commitEveryMs: 5,
  batchCharsMax: 4 * 1024 * 1024,
  eventCharsMax: 64 * 1024 * 1024,
};
/**
 * The pool's client times out 2 s after the server, and both must be over when waiting calls are rejected.
 */
const STATEMENT_MARGIN_MS = 2_000;

/**
 * The event log in a PostgreSQL table. One connection writes, and writers queue, so ids become visible in
 * order.
 */
export class PostgresEventLog extends GroupCommitLog<BatchPlace> {
  protected override readonly system = 'postgresql';
  private readonly pool;
  private readonly listeners = new Set<(stored: StoredBatch) => void>();

  constructor({ url, logger = silent, ...options }: PostgresEventLogOptions) {
    super(options, BOUNDS);
    const { publishMs = PUBLISH_MS } = options;
    this.pool = createPool(url, {
      name: 'events (publish)',
      max: 1,
      connectMs: publishMs,
      statementMs: Math.max(publishMs - STATEMENT_MARGIN_MS, 500),
      logger: { info: () => undefined, warn: (message) => logger.warn(message) },
    });
  }

  /**
   * Calls the listener with each batch that this process has stored. Returns a function that unsubscribes.
   */
  subscribe(listener: (stored: StoredBatch) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.drain();
    await this.pool.end();
  }

  protected override async store(batch: PublishBatch): Promise<BatchPlace> {
    const beganAtMs = performance.now();
    return { ids: await appendBatch(this.pool, batch), beganAtMs };
  }

  protected override onStored(batch: PublishBatch, place: BatchPlace): void {
    if (this.listeners.size === 0) return;
    const topics = new Set<string>();
    for (const { topic } of batch.events) topics.add(topic);
    const stored = { ...place, batch, topics, atMs: Date.now() };
    for (const listener of this.listeners) listener(stored);
  }
}

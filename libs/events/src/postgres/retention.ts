import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerSession } from './consumer-session.js';
import type { EventsLogger } from '../delivery/logger.js';
import { deadTopic } from '../delivery/parse-events.js';
import { readTopics, removeExpired } from './postgres-events.store.js';

const EVERY_MS = 10 * 60_000;
const STEP_EVENTS = 1_000;
/** Maximum number of steps per round; the next round continues. */
const ROUND_STEPS = 200;
/** Dead events wait for an operator. */
const DEAD_DAYS = 90;
const DEAD_SUFFIX = deadTopic('');

export interface RetentionOptions {
  readonly session: ConsumerSession;
  /** How long events handled by every group are kept. */
  readonly days: number;
  readonly logger: EventsLogger;
}

/** Removes old events, so that the log does not grow forever. */
export class Retention {
  readonly #options: RetentionOptions;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.sweep().catch((error: Error) =>
        this.#options.logger.warn(`Old events were not removed: ${error.message}`),
      );
    }, EVERY_MS).unref();
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  /** Removes expired events in small steps, between which consumers can run. Returns the number removed. */
  async sweep(): Promise<number> {
    const { session, days } = this.#options;
    let removed = 0;
    let steps = 0;
    for (const topic of await session.use(readTopics)) {
      const keptDays = topic.endsWith(DEAD_SUFFIX) ? Math.max(days, DEAD_DAYS) : days;
      for (
        let count = STEP_EVENTS;
        count === STEP_EVENTS && steps < ROUND_STEPS && !this.#stopped;
        steps += 1
      ) {
        count = await session.use((client) =>
          removeExpired(client, { topic, days: keptDays, max: STEP_EVENTS }),
        );
        removed += count;
        await sleep(5);
      }
    }
    return removed;
  }
}

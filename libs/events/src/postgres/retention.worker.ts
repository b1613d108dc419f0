import { setTimeout as sleep } from 'node:timers/promises';
import type { OnModuleInit } from '@nestjs/common';
import { removeOldEvents } from '@svc/contracts/messages';
import type { JobWorkers } from '@svc/jobs';
import { deadTopic } from '../delivery/parse-events.js';
import { ConsumerSession } from './consumer-session.js';
import { readTopics, removeExpired } from './postgres-events.store.js';

/** In UTC. */
const EVERY_TEN_MINUTES = '*/10 * * * *';
const STEP_EVENTS = 1_000;
const PAUSE_MS = 5;
/** How long events are kept that every group has handled. */
const KEPT_DAYS = 7;
/** Dead events wait for an operator. */
const DEAD_DAYS = 90;
const DEAD_SUFFIX = deadTopic('');

/** Removes old events on a schedule, so that the log does not grow forever. */
export class RetentionWorker implements OnModuleInit {
  constructor(
    private readonly url: string,
    private readonly workers: JobWorkers,
  ) {}

  onModuleInit(): void {
    const work = async (_payload: object, { signal }: { signal: AbortSignal }): Promise<void> => {
      await removeOld(this.url, signal);
    };
    this.workers.work(removeOldEvents, work, { payload: {}, cron: EVERY_TEN_MINUTES });
  }
}

/** Removes expired events in small steps, between which consumers can run. Returns the number removed. */
export async function removeOld(url: string, signal: AbortSignal): Promise<number> {
  const session = new ConsumerSession({ url, name: 'events (retention)' });
  let removed = 0;
  try {
    for (const topic of await session.use(readTopics)) {
      const days = topic.endsWith(DEAD_SUFFIX) ? DEAD_DAYS : KEPT_DAYS;
      for (let count = STEP_EVENTS; count === STEP_EVENTS; removed += count) {
        count = await session.use((client) => removeExpired(client, { topic, days, max: STEP_EVENTS }));
        await sleep(PAUSE_MS, undefined, { signal });
      }
    }
    return removed;
  } finally {
    await session.close();
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { EventDefinition } from '@svc/contracts';
import type { Admin, ITopicConfig } from 'kafkajs';
import { deadTopic } from '../delivery/parse-events.js';
import type { KafkaConnection } from './kafka-client.js';

/** What a deployment wants of its topics. */
export interface TopicTerms {
  /** No more processes of a group can share a topic than it has parts. */
  readonly partitions: number;
  /** Copies of each part, on brokers of their own. */
  readonly replicas: number;
  /** Copies that have to have an event before it counts as stored. */
  readonly minInSyncReplicas: number;
  readonly retentionDays: number;
}

const REQUEST_MS = 10_000;
const READY_MS = 60_000;
const POLL_MS = 50;
const DAY_MS = 86_400_000;
/** Dead events wait for somebody to look at them. */
const DEAD_DAYS = 90;

/**
 * Makes the topics of the events, and those of their dead ones, where they are not there yet, and waits until they can
 * be used. One that is there is left as it is: more parts would break the order of its keys. Gives those it made.
 */
export async function createTopics(
  connection: KafkaConnection,
  events: readonly EventDefinition[],
  terms: TopicTerms,
): Promise<string[]> {
  // What it needs is loaded where it is needed.
  const { kafkaClient } = await import('./kafka-client.js');
  const retry = { retries: 10, initialRetryTime: 100, maxRetryTime: 2_000 };
  const admin = kafkaClient(connection, { requestTimeoutMs: REQUEST_MS, retry }).admin();
  await admin.connect();
  try {
    const there = new Set(await admin.listTopics());
    const missing = events
      .flatMap((event) => topicsOf(event, terms))
      .filter(({ topic }) => !there.has(topic));
    if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: false });
    const names = missing.map(({ topic }) => topic);
    for (const name of names) await becomesReady(admin, name);
    return names;
  } finally {
    await admin.disconnect();
  }
}

function topicsOf(event: EventDefinition, terms: TopicTerms): ITopicConfig[] {
  const { partitions = terms.partitions, retentionDays = terms.retentionDays } = event;
  const topic = (name: string, parts: number, days: number): ITopicConfig => ({
    topic: name,
    numPartitions: parts,
    replicationFactor: terms.replicas,
    configEntries: [
      { name: 'cleanup.policy', value: 'delete' },
      { name: 'retention.ms', value: String(days * DAY_MS) },
      { name: 'min.insync.replicas', value: String(terms.minInSyncReplicas) },
    ],
  });
  return [
    topic(event.topic, partitions, retentionDays),
    topic(deadTopic(event.topic), 1, Math.max(DEAD_DAYS, retentionDays)),
  ];
}

/** A topic that was just made has no leaders for a moment. */
async function becomesReady(admin: Admin, topic: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    try {
      await admin.fetchTopicOffsets(topic);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(POLL_MS);
    }
  }
}

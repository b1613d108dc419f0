import type { EventDefinition } from '@svc/contracts/messages';
import { retrying } from '@svc/runtime';
import type { Admin, ITopicConfig } from 'kafkajs';
import { deadTopic } from '../delivery/parse-events.js';
import type { KafkaConnection } from './kafka-client.js';

/** A deployment's requirements for its topics. */
export interface TopicTerms {
  /** At most this many processes of a group can share a topic. */
  readonly partitions: number;
  /** Copies of each partition, on separate brokers. */
  readonly replicas: number;
  /** Copies that must have an event before it counts as stored. */
  readonly minInSyncReplicas: number;
  readonly retentionDays: number;
}

const REQUEST_MS = 10_000;
const READY_MS = 60_000;
const POLL_MS = 50;
const DAY_MS = 86_400_000;
/** Dead events wait for an operator. */
const DEAD_DAYS = 90;

/**
 * Creates missing topics for the events and their dead letters, and waits until they can be used. Existing
 * topics are left unchanged: more partitions would break the order of their keys. Returns the names of the
 * new ones.
 */
export async function createTopics(
  connection: KafkaConnection,
  events: readonly Omit<EventDefinition, 'key' | 'encode'>[],
  terms: TopicTerms,
): Promise<string[]> {
  // Loaded here, so that other processes do not load the Kafka client.
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

function topicsOf(event: Omit<EventDefinition, 'key' | 'encode'>, terms: TopicTerms): ITopicConfig[] {
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

/** A new topic briefly has no leaders. */
async function becomesReady(admin: Admin, topic: string): Promise<void> {
  const retries = { firstMs: POLL_MS, lastMs: POLL_MS, deadlineMs: READY_MS };
  await retrying(() => admin.fetchTopicOffsets(topic), retries);
}

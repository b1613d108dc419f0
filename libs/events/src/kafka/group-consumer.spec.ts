import { defineEvent } from '@svc/contracts/messages';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { GroupConsumer } from './group-consumer.js';
import { kafkaClient } from './kafka-client.js';
import { KafkaEventLog } from './kafka-event-log.js';
import { TopicProgress } from './topic-progress.js';

const event = defineEvent({ topic: 'test.v1', key: () => '', payload: z.unknown() });
/** No server listens on this port. */
const connection = { brokers: ['127.0.0.1:1'] };

it('warns once, naming the setting, if no broker can be reached', async () => {
  const logger = { warn: vi.fn(), error: vi.fn() };
  const consumer = new GroupConsumer({
    subscription: { group: 'ledger', event },
    kafka: kafkaClient(connection, { requestTimeoutMs: 1_000, retry: { retries: 1_000, maxRetryTime: 50 } }),
    log: new KafkaEventLog(connection),
    progress: new TopicProgress(connection),
    send: () => Promise.resolve(),
    batchMax: 1,
    sessionMs: 50,
    stopMs: 1_000,
    logger,
  });
  consumer.start();
  await vi.waitFor(() => expect(logger.warn).toHaveBeenCalled(), { timeout: 20_000 });
  await consumer.stop();
  expect(logger.warn.mock.calls).toEqual([
    [expect.stringMatching(/^ledger has not joined .*test\.v1.*KAFKA_BROKERS/)],
  ]);
});

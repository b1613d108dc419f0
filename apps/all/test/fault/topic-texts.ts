import { kafkaConfig, kafkaConnection } from '@svc/events';
import { loadConfig } from '@svc/runtime';
import { Kafka, type KafkaMessage, logLevel } from 'kafkajs';

const bytesOf = ({ key, value, headers }: KafkaMessage): Buffer =>
  Buffer.concat(
    [key, value, Buffer.from(JSON.stringify(headers ?? {}))].flatMap((part) => (part ? [part] : [])),
  );

/** The content of each event of all topics. In the files of the brokers they are compressed. */
export async function topicContents(servers: Readonly<Record<string, string>>): Promise<Buffer> {
  const connection = kafkaConnection(loadConfig(kafkaConfig, servers));
  const kafka = new Kafka({ ...connection, brokers: [...connection.brokers], logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((name) => !name.startsWith('__'));
  const missing = new Map<string, bigint>();
  for (const topic of topics)
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic))
      if (low !== high) missing.set(`${topic}/${partition}`, BigInt(high));
  await admin.disconnect();
  const contents: Buffer[] = [];
  if (missing.size === 0) return Buffer.alloc(0);
  const all = Promise.withResolvers<void>();
  const consumer = kafka.consumer({ groupId: `texts-${crypto.randomUUID()}`, maxWaitTimeInMs: 50 });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: ({ topic, partition, message }) => {
      contents.push(bytesOf(message));
      const place = `${topic}/${partition}`;
      if (BigInt(message.offset) + 1n >= (missing.get(place) ?? 0n)) missing.delete(place);
      if (missing.size === 0) all.resolve();
      return Promise.resolve();
    },
  });
  await all.promise;
  await consumer.disconnect();
  return Buffer.concat(contents);
}

import { within } from '@svc/runtime';
import { CompressionTypes, type Kafka, type Producer, type TopicMessages } from 'kafkajs';
import { type KafkaConnection, kafkaClient } from './kafka-client.js';
import { keyPartitioner } from './key-partitioner.js';

const REQUEST_MS = 1_500;
/** kafkajs limits the duration of each request, but not of its work around it. */
const SEND_MS = 2 * REQUEST_MS + 500;
const GOODBYE_MS = 2_000;

/** Every client of Kafka reads it without a further package. Threads compress, not the event loop. */
const COMPRESSION = CompressionTypes.GZIP;

/**
 * A producer that is replaced whenever it hangs: after a timeout kafkajs keeps calling the leader it knows,
 * even if leadership has moved. It is not idempotent: kafkajs reuses the sequence numbers of a failed send
 * for the next one, which brokers then acknowledge as a duplicate without storing it.
 */
export class ReconnectingProducer {
  private readonly kafka: Kafka;
  private producer: Producer | undefined;

  constructor(connection: KafkaConnection) {
    this.kafka = kafkaClient(connection, { requestTimeoutMs: REQUEST_MS, retry: { retries: 0 } });
  }

  /**
   * Tries once, and resolves when every in-sync replica has stored the messages. If it rejects, they may
   * still be stored.
   */
  async send(topicMessages: TopicMessages[]): Promise<void> {
    const producer = this.producer ?? this.create();
    try {
      if (producer !== this.producer) {
        await within(SEND_MS, producer.connect());
        this.producer = producer;
      }
      const batch = { acks: -1, timeout: REQUEST_MS, compression: COMPRESSION, topicMessages };
      await within(SEND_MS, producer.sendBatch(batch));
    } catch (error) {
      this.abandon(producer);
      throw error;
    }
  }

  async close(): Promise<void> {
    const producer = this.producer;
    this.producer = undefined;
    if (producer) await within(GOODBYE_MS, producer.disconnect()).catch(() => undefined);
  }

  private create(): Producer {
    return this.kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: keyPartitioner,
      idempotent: false,
      retry: { retries: 0 },
    });
  }

  /** Disconnects in the background. */
  private abandon(producer: Producer): void {
    if (this.producer === producer) this.producer = undefined;
    void producer.disconnect().catch(() => undefined);
  }
}

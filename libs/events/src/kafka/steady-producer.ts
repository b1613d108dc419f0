import { within } from '@svc/runtime';
import type { Kafka, Producer, TopicMessages } from 'kafkajs';
import { type KafkaConnection, kafkaClient } from './kafka-client.js';
import { keyPartitioner } from './key-partitioner.js';

const REQUEST_MS = 1_500;
/** kafkajs bounds each request, but not what it does around it. */
const SEND_MS = 2 * REQUEST_MS + 500;
const GOODBYE_MS = 2_000;

/**
 * A producer that is replaced whenever it hangs: after a timeout kafkajs goes on asking the leader it knows, whoever
 * leads by then. It is not idempotent: kafkajs takes the sequence numbers of a failed send for the next one, which
 * brokers then acknowledge as a copy and do not store.
 */
export class SteadyProducer {
  readonly #kafka: Kafka;
  #producer: Producer | undefined;

  constructor(connection: KafkaConnection) {
    this.#kafka = kafkaClient(connection, { requestTimeoutMs: REQUEST_MS, retry: { retries: 0 } });
  }

  /** Resolves once all of it is stored by every replica in sync; one try. What it rejects may be stored nevertheless. */
  async send(topicMessages: TopicMessages[]): Promise<void> {
    const producer = this.#producer ?? this.#create();
    try {
      if (producer !== this.#producer) {
        await within(SEND_MS, producer.connect());
        this.#producer = producer;
      }
      await within(SEND_MS, producer.sendBatch({ acks: -1, timeout: REQUEST_MS, topicMessages }));
    } catch (error) {
      this.#abandon(producer);
      throw error;
    }
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    if (producer) await within(GOODBYE_MS, producer.disconnect()).catch(() => undefined);
  }

  #create(): Producer {
    return this.#kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: keyPartitioner,
      idempotent: false,
      retry: { retries: 0 },
    });
  }

  /** Nobody waits until it has said goodbye. */
  #abandon(producer: Producer): void {
    if (this.#producer === producer) this.#producer = undefined;
    void producer.disconnect().catch(() => undefined);
  }
}

import { type EventLog, defineEvent } from '@svc/contracts/messages';
import { Client, type QueryResultRow } from 'pg';
import { z } from 'zod';

const Counted = z.object({ owner: z.string(), n: z.int() });

/** The payload of this library's test events. */
export type Counted = z.infer<typeof Counted>;

export const counted = defineEvent<Counted>({
  topic: 'counted.v1',
  key: ({ owner }) => owner,
  payload: Counted,
});

/** Publishes the numbers in parallel, and waits until all are durable. */
export async function publishAll(log: EventLog, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  await Promise.all(numbers.map((n) => log.publish(counted, { owner: 'ada', n })));
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** A separate connection, for looking at the library's tables. */
export class Probe {
  private readonly client: Client;

  constructor(url: string) {
    this.client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  }

  async open(): Promise<void> {
    await this.client.connect();
  }

  async query<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(text, values)).rows;
  }

  /** Deletes every event and every offset. */
  async clear(): Promise<void> {
    await this.query('TRUNCATE events.log, events.offsets');
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}

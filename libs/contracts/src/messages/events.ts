import type { z } from 'zod';

/** An event: its topic, the key that preserves its order, and its shape on the wire. */
export interface EventDefinition<Payload = unknown> {
  readonly topic: `${string}.v${number}`;
  /** Events with the same key arrive in the order in which they were published. */
  readonly key: (payload: Payload) => string;
  /** Reads what `encode` returned. */
  readonly payload: z.ZodType<Payload>;
  /** The payload as its JSON has it; absent if it is JSON itself. */
  readonly encode?: (payload: Payload) => unknown;
  /**
   * The number of partitions of the topic, each with the events of some keys; default: the deployment's
   * number.
   */
  readonly partitions?: number;
  /** How long the topic keeps its events; default: the deployment's time. */
  readonly retentionDays?: number;
}

/** Defines an event. Its payload may only gain optional fields; any other change needs the next version. */
export function defineEvent<Payload>(definition: EventDefinition<Payload>): EventDefinition<Payload> {
  return definition;
}

/** The text of a payload in a log. */
export const eventText = <Payload>({ encode }: EventDefinition<Payload>, payload: Payload): string =>
  JSON.stringify(encode ? encode(payload) : payload);

/** Publishes events. */
export abstract class EventLog {
  /**
   * Resolves when the event is durable; from then on every consumer gets it at least once. Rejects if that
   * fails within the log's deadline: the event may or may not have been stored.
   */
  abstract publish<Payload>(event: EventDefinition<Payload>, payload: Payload): Promise<void>;
}

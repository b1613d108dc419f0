import type { z } from 'zod';

/** A fact that is told to whoever listens: its topic, the key that keeps its order, and its shape on the wire. */
export interface EventDefinition<Payload = unknown> {
  readonly topic: `${string}.v${number}`;
  /** Events with the same key arrive in the order in which they were published. */
  readonly key: (payload: Payload) => string;
  readonly payload: z.ZodType<Payload>;
  /** Into how many parts the topic is divided, each with the events of some keys; default: the deployment's number. */
  readonly partitions?: number;
  /** How long the topic keeps its events; default: the deployment's time. */
  readonly retentionDays?: number;
}

/** Defines an event. A change of its payload adds optional fields only; anything else is the next version. */
export function defineEvent<Payload>(definition: EventDefinition<Payload>): EventDefinition<Payload> {
  return definition;
}

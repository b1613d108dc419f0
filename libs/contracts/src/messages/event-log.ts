import type { EventDefinition } from './events.js';

/** Where events are told. */
export abstract class EventLog {
  /**
   * Resolves when the event is durable; whoever listens gets it at least once from then on.
   * Rejects when that could not be had within the log's deadline: the event may or may not have been stored.
   */
  abstract publish<Payload>(event: EventDefinition<Payload>, payload: Payload): Promise<void>;
}

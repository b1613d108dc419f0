import type { EventDefinition } from './events.js';

/** Publishes events. */
export abstract class EventLog {
  /**
   * Resolves when the event is durable; from then on every consumer gets it at least once. Rejects if that
   * fails within the log's deadline: the event may or may not have been stored.
   */
  abstract publish<Payload>(event: EventDefinition<Payload>, payload: Payload): Promise<void>;
}

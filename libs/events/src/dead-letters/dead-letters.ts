import type { EventDefinition } from '@svc/contracts/messages';
import { type LoggedEvent, deadTopic, parseEvents } from '../delivery/parse-events.js';

/** Events replayed together: the log rejects events while too many wait to be stored. */
export const BATCH = 1_000;

/** Which topic to replay, and the shape that its events must have. */
export type ReplayableEvent = Pick<EventDefinition, 'topic' | 'payload'>;

/** The dead events of a topic that have not been published again. */
export interface DeadEvents {
  readonly topic: string;
  /** Which this version can read, so `replay` would publish them. */
  readonly readable: readonly LoggedEvent[];
  readonly unreadable: readonly LoggedEvent[];
}

/**
 * The number of events published again, and of those that stay dead because this version can't read them
 * either.
 */
export interface Replayed {
  readonly topic: string;
  readonly published: number;
  readonly unreadable: number;
}

/** Lists the events that consumers could not read, and publishes them again to their topic. */
export interface DeadLetters {
  list(event: ReplayableEvent): Promise<DeadEvents>;
  /**
   * Publishes what this version can read. If it is interrupted and run again, an event may be published
   * twice; handlers are idempotent.
   */
  replay(event: ReplayableEvent): Promise<Replayed>;
  close(): Promise<void>;
}

/** Dead events, divided by whether this version can read them. */
export function divide(dead: readonly LoggedEvent[], event: ReplayableEvent): DeadEvents {
  const { unreadable } = parseEvents(dead, event);
  const isUnreadable = new Set(unreadable);
  return {
    topic: deadTopic(event.topic),
    readable: dead.filter((each) => !isUnreadable.has(each)),
    unreadable,
  };
}

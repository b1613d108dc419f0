import { EventPattern } from '@nestjs/microservices';
import type { EventDefinition } from '@svc/contracts/messages';
import { type DeliveredEvent, observed } from './on-events.js';

/** A notification to every process. */
export interface Broadcast<Payload> {
  /** In log order. */
  readonly events: readonly DeliveredEvent<Payload>[];
  /**
   * Whether earlier events may be missing or late: at the start, and for as long as the log can't be read.
   * State derived from earlier events must then be rebuilt.
   */
  readonly missed: boolean;
}

/** The event a handler subscribes to. */
export interface BroadcastSubscription {
  readonly broadcast: EventDefinition;
}

type BroadcastHandler<Payload> = (news: Broadcast<Payload>) => Promise<void>;

/**
 * Calls a controller method for an event in every process, as caches need it: from now on, soon, and at least
 * once. A process's position is not stored. The method's own waits need deadlines; it is called again if it
 * throws.
 */
export function OnEveryProcess<Payload>(event: EventDefinition<Payload>) {
  return (
    target: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<BroadcastHandler<Payload>>,
  ): void => {
    descriptor.value = observed(descriptor.value, name);
    const subscription: BroadcastSubscription = { broadcast: event as EventDefinition };
    EventPattern(event.topic, { ...subscription })(target, name, descriptor);
  };
}

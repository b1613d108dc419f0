import { EventPattern } from '@nestjs/microservices';
import type { EventDefinition } from '@svc/contracts';
import { type DeliveredEvent, observed } from './on-events.js';

/** What a process is told of an event that concerns all of them. */
export interface Broadcast<Payload> {
  /** In the order of the log. */
  readonly events: readonly DeliveredEvent<Payload>[];
  /**
   * Whether earlier events may be missing, or late: at the start, and for as long as the log can't be read. What was
   * made from events before has to be made anew.
   */
  readonly missed: boolean;
}

/** Which event a handler is told of. */
export interface BroadcastSubscription {
  readonly broadcast: EventDefinition;
}

type BroadcastHandler<Payload> = (news: Broadcast<Payload>) => Promise<void>;

/**
 * Makes a controller's method hear of an event in every process, as caches want it: from now on, soon, and at least
 * once. Nothing is stored of how far a process has got. The method's own waits need deadlines; it is called again when
 * it throws.
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

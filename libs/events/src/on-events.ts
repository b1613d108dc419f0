import 'reflect-metadata';
import { EventPattern } from '@nestjs/microservices';
import type { EventDefinition } from '@svc/contracts';

/** An event as its consumer gets it. */
export interface DeliveredEvent<Payload> {
  /** Its place in the log. */
  readonly id: bigint;
  readonly key: string;
  readonly payload: Payload;
}

/** Events of one topic, in the order of the log. */
export type EventBatch<Payload> = readonly DeliveredEvent<Payload>[];

/** Which events a handler takes, and in whose name. */
export interface Subscription {
  readonly group: string;
  readonly event: EventDefinition;
}

type BatchHandler<Payload> = (batch: EventBatch<Payload>) => Promise<void>;

/** How a delivery went. A batch counts as handled only when the handler itself has returned. */
interface Outcome {
  handled: boolean;
  error?: unknown;
}

const outcomes = new WeakMap<object, Outcome>();

/**
 * Makes a controller's method the consumer of an event for a group. It gets whole batches, again and again until it
 * returns, and after a crash once more: it must be idempotent, and its own waits need deadlines.
 */
export function OnEvents<Payload>(event: EventDefinition<Payload>, group: string) {
  return (
    target: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<BatchHandler<Payload>>,
  ): void => {
    const handle = descriptor.value;
    if (!handle) throw new TypeError(`@OnEvents belongs on a method, not on ${String(name)}`);
    const observed: BatchHandler<Payload> = async function (this: unknown, batch) {
      const outcome = outcomes.get(batch);
      if (!outcome) return handle.call(this, batch);
      try {
        await handle.call(this, batch);
        outcome.handled = true;
      } catch (error) {
        // Exception filters are made for requests; one of them could make a failure look like a success.
        outcome.error = error;
      }
    };
    for (const key of Reflect.getMetadataKeys(handle) as string[]) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, handle), observed);
    }
    descriptor.value = observed;
    const subscription: Subscription = { group, event: event as EventDefinition };
    EventPattern(event.topic, { ...subscription })(target, name, descriptor);
  };
}

/** Hands a batch over through Nest. Throws what the handler threw, and when the batch never got to it. */
export async function deliver(
  batch: EventBatch<unknown>,
  send: (batch: EventBatch<unknown>) => Promise<unknown>,
): Promise<void> {
  const outcome: Outcome = { handled: false };
  outcomes.set(batch, outcome);
  try {
    await send(batch);
  } catch (error) {
    outcome.error ??= error;
  }
  if (outcome.handled) return;
  const { error } = outcome;
  if (error instanceof Error) throw error;
  throw new Error('A guard, pipe or interceptor kept the events from their handler', { cause: error });
}

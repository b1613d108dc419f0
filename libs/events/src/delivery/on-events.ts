import 'reflect-metadata';
import { EventPattern } from '@nestjs/microservices';
import type { EventDefinition } from '@svc/contracts/messages';

/** An event as a consumer receives it. */
export interface DeliveredEvent<Payload> {
  /** Its position in the log. */
  readonly id: bigint;
  readonly key: string;
  readonly payload: Payload;
}

/** Events of one topic, in log order. */
export type EventBatch<Payload> = readonly DeliveredEvent<Payload>[];

/** The events a handler takes, and its group. */
export interface Subscription {
  readonly group: string;
  readonly event: EventDefinition;
}

type BatchHandler<Payload> = (batch: EventBatch<Payload>) => Promise<void>;

/** The outcome of a delivery. A batch counts as handled only if the handler itself has returned. */
interface Outcome {
  handled: boolean;
  error?: unknown;
}

const outcomes = new WeakMap<object, Outcome>();

/**
 * Makes a controller method the consumer of an event for a group. It receives whole batches, each repeatedly
 * until it returns, and possibly again after a crash: it must be idempotent, and its own waits need
 * deadlines.
 */
export function OnEvents<Payload>(event: EventDefinition<Payload>, group: string) {
  return (
    target: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<BatchHandler<Payload>>,
  ): void => {
    descriptor.value = observed(descriptor.value, name);
    const subscription: Subscription = { group, event: event as EventDefinition };
    EventPattern(event.topic, { ...subscription })(target, name, descriptor);
  };
}

/**
 * The handler, with its outcome recorded for `deliver`. Nest's exception filters are made for requests; one
 * could make a failure look like a success.
 */
export function observed<Message extends object>(
  handle: ((message: Message) => Promise<void>) | undefined,
  name: string | symbol,
): (message: Message) => Promise<void> {
  if (!handle) throw new TypeError(`An event handler must be a method, and ${String(name)} is not`);
  const observing = async function (this: unknown, message: Message): Promise<void> {
    const outcome = outcomes.get(message);
    if (!outcome) return handle.call(this, message);
    try {
      await handle.call(this, message);
      outcome.handled = true;
    } catch (error) {
      outcome.error = error;
    }
  };
  for (const key of Reflect.getMetadataKeys(handle) as string[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handle), observing);
  }
  return observing;
}

/**
 * Passes a message to a handler through Nest. Throws the handler's error, or an error if it was never called.
 */
export async function deliver<Message extends object>(
  message: Message,
  send: (message: Message) => Promise<unknown>,
): Promise<void> {
  const outcome: Outcome = { handled: false };
  outcomes.set(message, outcome);
  try {
    await send(message);
  } catch (error) {
    outcome.error ??= error;
  }
  if (outcome.handled) return;
  const { error } = outcome;
  if (error instanceof Error) throw error;
  throw new Error('A guard, pipe or interceptor kept the events from their handler', { cause: error });
}

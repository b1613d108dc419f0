import 'reflect-metadata';
import { EventPattern } from '@nestjs/microservices';
import type { EventDefinition } from '@svc/contracts';

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
export function observed<Told extends object>(
  handle: ((told: Told) => Promise<void>) | undefined,
  name: string | symbol,
): (told: Told) => Promise<void> {
  if (!handle) throw new TypeError(`An event handler must be a method, and ${String(name)} is not`);
  const observing = async function (this: unknown, told: Told): Promise<void> {
    const outcome = outcomes.get(told);
    if (!outcome) return handle.call(this, told);
    try {
      await handle.call(this, told);
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
export async function deliver<Told extends object>(
  told: Told,
  send: (told: Told) => Promise<unknown>,
): Promise<void> {
  const outcome: Outcome = { handled: false };
  outcomes.set(told, outcome);
  try {
    await send(told);
  } catch (error) {
    outcome.error ??= error;
  }
  if (outcome.handled) return;
  const { error } = outcome;
  if (error instanceof Error) throw error;
  throw new Error('A guard, pipe or interceptor kept the events from their handler', { cause: error });
}

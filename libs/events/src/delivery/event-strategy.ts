import { type CustomTransportStrategy, Server } from '@nestjs/microservices';
import { events } from '@svc/telemetry';
import { isObservable, lastValueFrom } from 'rxjs';
import { LagWatch, type Positions } from './lag-watch.js';
import type { Broadcast, BroadcastSubscription } from './on-every-process.js';
import type { EventBatch, Subscription } from './on-events.js';

/** A group's state in a topic. */
export interface ConsumerState {
  readonly group: string;
  readonly topic: string;
  /** Events handled since this process started. */
  readonly handled: number;
  /** Events that could not be read and went to `<topic>.dead`. */
  readonly dead: number;
  /** Failures since the last handled batch; 0 if all is well. */
  readonly failures: number;
}

/** Reads a topic for a group. */
export interface Consumer {
  readonly topic: string;
  readonly group: string;
  readonly state: ConsumerState;
  /** When the oldest event was stored that it has read and not handled yet, as Unix time. */
  readonly unhandledSinceMs: number | undefined;
  /** See `LagWatch`. */
  readonly signs?: number;
  drained(deadlineMs: number): Promise<void>;
  /** The positions of the topic's end and of the group. */
  positions(): Promise<Positions>;
}

/** Passes a batch to its handler, through Nest. */
export type SendBatch = (batch: EventBatch<unknown>) => Promise<unknown>;
export type SendBroadcast = (news: Broadcast<unknown>) => Promise<unknown>;

const DRAIN_MS = 30_000;

/** Delivers events to the `@OnEvents` methods of an application. Pass it to `connectMicroservice`. */
export abstract class EventStrategy extends Server implements CustomTransportStrategy {
  private readonly started: Consumer[] = [];
  private readonly lags: LagWatch[] = [];
  private watchEnds: readonly (() => void)[] = [];

  /** The log that events are read from. */
  protected abstract readonly system: 'kafka' | 'postgresql';
  abstract override listen(callback: () => void): void;
  /** Lets every handler finish its current batch, up to a deadline. */
  abstract override close(): Promise<void>;
  protected abstract consume(subscription: Subscription, send: SendBatch): Consumer;
  protected abstract receive(subscription: BroadcastSubscription, send: SendBroadcast): void;

  override addHandler(...[pattern, handler, isEventHandler, extras]: Parameters<Server['addHandler']>): void {
    const { group, event, broadcast } = (extras ?? {}) as Partial<Subscription & BroadcastSubscription>;
    const send = async (message: unknown): Promise<unknown> => {
      const result: unknown = await handler(message);
      return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
    };
    if (isEventHandler && broadcast) return this.receive({ broadcast }, send);
    if (!isEventHandler || group === undefined || event === undefined) {
      throw new TypeError(
        `The handler of ${JSON.stringify(pattern)} must be declared with @OnEvents or @OnEveryProcess`,
      );
    }
    if (this.find(event.topic, group)) {
      throw new TypeError(`Two handlers of ${group} take ${event.topic}; each event is for one of them only`);
    }
    const { topic } = event;
    const cell = events.processed.with(this.system, topic, group);
    const timed: SendBatch = async (batch) => {
      const startMs = performance.now();
      try {
        return await send(batch);
      } finally {
        cell.record((performance.now() - startMs) / 1_000);
      }
    };
    const consumer = this.consume({ group, event }, timed);
    this.started.push(consumer);
    this.lags.push(new LagWatch(consumer));
  }

  /** Starts reporting metrics on its consumers. */
  protected watch(): void {
    const countsOf = (count: (state: ConsumerState) => number) => () =>
      this.consumers().map((state): [number, string, string] => [count(state), state.topic, state.group]);
    this.watchEnds = [
      events.handled.observe(countsOf(({ handled }) => handled)),
      events.dead.observe(countsOf(({ dead }) => dead)),
      events.failures.observe(countsOf(({ failures }) => failures)),
    ];
    for (const lag of this.lags) lag.start();
  }

  protected endWatch(): void {
    for (const end of this.watchEnds) end();
    for (const lag of this.lags) lag.stop();
  }

  /**
   * Resolves when the group has handled every event of the topic that was durable before the call. Rejects
   * after `deadlineMs`; default: 30 s.
   */
  async drained(topic: string, group: string, deadlineMs = DRAIN_MS): Promise<void> {
    const consumer = this.find(topic, group);
    if (!consumer) throw new TypeError(`No handler of ${group} takes ${topic}`);
    await consumer.drained(deadlineMs);
  }

  consumers(): readonly ConsumerState[] {
    return this.started.map(({ state }) => state);
  }

  on(): void {
    throw new TypeError('This strategy emits no events of its own');
  }

  unwrap<Target>(): Target {
    throw new TypeError('This strategy has no server beneath it');
  }

  private find(topic: string, group: string): Consumer | undefined {
    return this.started.find((consumer) => consumer.topic === topic && consumer.group === group);
  }
}

import { Catch, Controller, type DynamicModule, type ExceptionFilter } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type EventDefinition, EventLog, defineEvent } from '@svc/contracts/messages';
import { vi } from 'vitest';
import { type Broadcast, type EventBatch, EventStrategy, OnEvents, OnEveryProcess } from '../src/index.js';
import type { DeadLetters } from '../src/dead-letters/dead-letters.js';
import { type Counted, counted } from './counted-events.js';

/** An event as stored in the log. */
export interface StoredEvent {
  readonly key: string;
  readonly payload: string;
}

/** The log of another process. */
export type OpenLog = EventLog & { onApplicationShutdown(): Promise<void> };

export interface ProcessConfig {
  readonly batchMax?: number;
  readonly stopMs?: number;
}

/** One kind of log, on its own server. */
export interface LogServer {
  /** Creates a topic and its dead-letter topic. */
  createTopic(topic: string): Promise<void>;
  openLog(config?: { publishMs?: number; maxPending?: number }): OpenLog;
  /** The module of a process. */
  module(config: ProcessConfig): DynamicModule;
  /** All events of a topic, in order per key. */
  stored(topic: string): Promise<readonly StoredEvent[]>;
  /** Stores an event without the checks of `publish`. */
  store(topic: string, event: StoredEvent): Promise<void>;
  /** How many of a topic's events a group has committed. */
  handledBy(group: string, topic: string): Promise<number>;
  deadLetters(): DeadLetters;
  /** Makes the server unresponsive until it is resumed. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export type Handle = (batch: EventBatch<Counted>) => Promise<void>;
export type Hear = (news: Broadcast<Counted>) => Promise<void>;

/** The handlers of a process. */
export interface Behaviour {
  readonly first?: Handle;
  readonly second?: Handle;
  readonly hear?: Hear;
}

export interface Process {
  readonly log: EventLog;
  readonly strategy: EventStrategy;
  close(): Promise<void>;
}

/** Like an exception filter of an HTTP application, unaware of events. */
@Catch()
class Swallow implements ExceptionFilter {
  catch(): void {
    // Swallows any error.
  }
}

/** Waits for a condition, for longer than any machine needs. */
export const eventually = (holds: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(holds, { timeout: 40_000, interval: 20 });

/** Processes that publish and consume one event, on their own topic. */
export class EventHarness {
  private readonly logs: OpenLog[] = [];
  private readonly processes: Process[] = [];

  private constructor(
    readonly server: LogServer,
    readonly event: EventDefinition<Counted>,
  ) {}

  private static topics = 0;

  static async on(server: LogServer): Promise<EventHarness> {
    const harness = EventHarness.withoutTopic(server);
    await server.createTopic(harness.topic);
    return harness;
  }

  /** For a topic that is created while the processes run. */
  static withoutTopic(server: LogServer): EventHarness {
    EventHarness.topics += 1;
    const topic = `harness-${process.pid}-${EventHarness.topics}.v1` as const;
    return new EventHarness(server, defineEvent<Counted>({ ...counted, topic }));
  }

  get topic(): string {
    return this.event.topic;
  }

  openLog(config: { publishMs?: number; maxPending?: number } = {}): OpenLog {
    const log = this.server.openLog(config);
    let closed: Promise<void> | undefined;
    const close = log.onApplicationShutdown.bind(log);
    log.onApplicationShutdown = () => (closed ??= close());
    this.logs.push(log);
    return log;
  }

  /** Publishes the numbers in parallel, and waits until all are durable. */
  publish(log: EventLog, from: number, to: number): Promise<void> {
    return this.publishAs('ada', log, { from, to });
  }

  async publishAs(owner: string, log: EventLog, { from, to }: { from: number; to: number }): Promise<void> {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    await Promise.all(numbers.map((n) => log.publish(this.event, { owner, n })));
  }

  /** A process with two groups that handle the event, or one with a broadcast listener. */
  async start(behaviour: Behaviour, config: ProcessConfig = {}): Promise<Process> {
    const root = {
      module: class Root {},
      imports: [this.server.module(config)],
      controllers: [behaviour.hear ? hearing(this.event, behaviour.hear) : handling(this.event, behaviour)],
    };
    const app = await NestFactory.create(root, new FastifyAdapter(), { logger: false });
    app.useGlobalFilters(new Swallow());
    const strategy = app.get(EventStrategy);
    app.connectMicroservice({ strategy }, { inheritAppConfig: true });
    await app.startAllMicroservices();
    let closed: Promise<void> | undefined;
    const started = { log: app.get(EventLog), strategy, close: () => (closed ??= app.close()) };
    this.processes.push(started);
    return started;
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((started) => started.close()));
    for (const log of this.logs) await log.onApplicationShutdown();
  }
}

const nothing: Handle = () => Promise.resolve();

function handling(
  event: EventDefinition<Counted>,
  { first = nothing, second = nothing }: Behaviour,
): new () => object {
  @Controller()
  class Handlers {
    @OnEvents(event, 'first')
    onFirst(batch: EventBatch<Counted>): Promise<void> {
      return first(batch);
    }

    @OnEvents(event, 'second')
    onSecond(batch: EventBatch<Counted>): Promise<void> {
      return second(batch);
    }
  }
  return Handlers;
}

function hearing(event: EventDefinition<Counted>, hear: Hear): new () => object {
  @Controller()
  class Listener {
    @OnEveryProcess(event)
    onNews(news: Broadcast<Counted>): Promise<void> {
      return hear(news);
    }
  }
  return Listener;
}

/** Collects what a handler receives. */
export class Collected {
  readonly batches: EventBatch<Counted>[] = [];

  get numbers(): number[] {
    return this.batches.flat().map(({ payload }) => payload.n);
  }

  readonly handle: Handle = (batch) => {
    this.batches.push(batch);
    return Promise.resolve();
  };
}

/** Collects a process's notifications. Numbers below one are marks of `untilListening`. */
export class Heard {
  readonly news: Broadcast<Counted>[] = [];
  /** How many more deliveries to reject. */
  failures = 0;

  get numbers(): number[] {
    return this.all.filter((n) => n > 0);
  }

  /**
   * Publishes marks until the last one has been received. Only this shows that the process has its position
   * in the log: it reports missed events before that, too.
   */
  async untilListening(publish: (mark: number) => Promise<void>): Promise<void> {
    let mark = 0;
    await eventually(async () => {
      mark -= 1;
      await publish(mark);
      if (!this.all.some((n) => n < 0)) throw new Error('no mark has been received');
    });
    await eventually(() => {
      if (!this.all.includes(mark)) throw new Error('the last mark has not been received');
    });
  }

  private get all(): number[] {
    return this.news.flatMap(({ events }) => events.map(({ payload }) => payload.n));
  }

  get missed(): boolean[] {
    return this.news.map(({ missed }) => missed);
  }

  readonly hear: Hear = (news) => {
    if (this.failures-- > 0) return Promise.reject(new Error('not now'));
    this.news.push(news);
    return Promise.resolve();
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { isNightly } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PartitionReader } from '../src/kafka/partition-reader.js';
import type { Counted } from './counted-events.js';
import { Collected, EventHarness, eventually } from './event-harness.js';
import { type KafkaLogServer, startKafkaLog, startReplicatedLog } from './kafka-log-server.js';

const OWNERS = Array.from({ length: 20 }, (_, index) => `owner-${index}`);
const PUBLISH_MS = 5_000;
/** Events per owner and second. */
const PER_SECOND = 25;
/** How late a timer may fire on a busy machine. */
const LATE_MS = 15_000;

let server: KafkaLogServer;
let harness: EventHarness;

/** Publishes numbered events for each owner in order, ignoring failures. */
class Load {
  readonly acknowledged = new Map<string, number[]>(OWNERS.map((owner) => [owner, []]));
  refused = 0;
  longestMs = 0;
  private readonly pending = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;

  constructor() {
    this.running = this.run();
  }

  /** The number of acknowledged events. */
  get count(): number {
    return [...this.acknowledged.values()].reduce((sum, numbers) => sum + numbers.length, 0);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await Promise.all(this.pending);
  }

  private async run(): Promise<void> {
    const log = harness.openLog({ publishMs: PUBLISH_MS });
    for (let n = 1; !this.stopping.signal.aborted; n += 1) {
      for (const owner of OWNERS) {
        const began = performance.now();
        const publishing: Promise<void> = log
          .publish(harness.event, { owner, n })
          .then(
            () => void this.acknowledged.get(owner)?.push(n),
            () => void (this.refused += 1),
          )
          .finally(() => {
            this.longestMs = Math.max(this.longestMs, performance.now() - began);
            this.pending.delete(publishing);
          });
        this.pending.add(publishing);
      }
      await sleep(1_000 / PER_SECOND);
    }
  }
}

/** Each number once, in the order of first arrival. */
const firsts = (numbers: readonly number[]): number[] => [...new Set(numbers)];

const INCIDENTS = [
  {
    fault: 'kill -9 of a broker',
    incident: async () => {
      await server.broker.kill();
      await sleep(5_000);
      await server.broker.start();
    },
  },
  {
    fault: 'a broker that stands still for 20 s',
    incident: async () => {
      await server.broker.pause();
      await sleep(20_000);
      await server.broker.resume();
    },
  },
  {
    fault: 'a restart of a broker',
    incident: async () => {
      await server.broker.stop();
      await server.broker.start();
    },
  },
];

/** Enough to be under load, and few enough for a machine on which brokers are slow. */
const EVENTS = 100;

describe.each([
  ...(isNightly ? [{ brokers: 'one broker', start: startKafkaLog }] : []),
  { brokers: 'three brokers', start: startReplicatedLog },
])('$brokers', ({ start }) => {
  beforeAll(async () => {
    server = await start();
  });
  beforeEach(async () => {
    harness = await EventHarness.on(server);
  });
  afterEach(async ({ task }) => {
    await harness?.close();
    // What a failed test leaves of the brokers would fail the others too.
    if (task.result?.state !== 'fail') return;
    await server?.stop();
    server = await start();
  });
  afterAll(() => server?.stop());

  it.each(INCIDENTS)(
    '$fault, under load, loses no acknowledged event, and every key is handled in order',
    async ({ incident }) => {
      const handled = new Collected();
      const [one, two] = [
        await harness.start({ first: handled.handle }),
        await harness.start({ first: handled.handle }),
      ];
      const load = new Load();
      await eventually(() => expect(handled.numbers.length).toBeGreaterThan(EVENTS));
      await incident();
      // It accepts events again, and they are handled.
      const before = { acknowledged: load.count, handled: handled.numbers.length };
      await eventually(() => expect(load.count).toBeGreaterThan(before.acknowledged + EVENTS));
      await eventually(() => expect(handled.numbers.length).toBeGreaterThan(before.handled + EVENTS));
      await load.stop();
      await one.strategy.drained(harness.topic, 'first', 60_000);
      await two.strategy.drained(harness.topic, 'first', 60_000);

      const found = {
        'in the log': (await server.stored(harness.topic)).map(
          ({ payload }) => JSON.parse(payload) as Counted,
        ),
        handled: handled.batches.flat().map(({ payload }) => payload),
      };
      for (const [where, payloads] of Object.entries(found)) {
        for (const [owner, acknowledged] of load.acknowledged) {
          const known = new Set(acknowledged);
          const own = payloads.filter((payload) => payload.owner === owner && known.has(payload.n));
          expect(firsts(own.map(({ n }) => n)), `${owner} ${where}`).toEqual(acknowledged);
        }
      }
      expect(load.longestMs).toBeLessThan(PUBLISH_MS + LATE_MS);
    },
  );

  it('events handled while the broker was killed are committed once it is back', async () => {
    let killed: Promise<void> | undefined;
    const one = await harness.start({ first: () => (killed ??= server.broker.kill()) });
    await harness.publish(harness.openLog(), 1, 1);
    await eventually(() => expect(killed).toBeDefined());
    await sleep(2_000);
    await server.broker.start();
    // No later event would commit it as a side effect.
    await one.strategy.drained(harness.topic, 'first', 60_000);
  });
});

describe('with three brokers', () => {
  beforeAll(async () => {
    server = await startReplicatedLog();
  });
  beforeEach(async () => {
    harness = await EventHarness.on(server);
  });
  afterEach(() => harness?.close());
  afterAll(() => server?.stop());

  it('a batch that outlives a rejoin of its group is not committed under the new generation', async () => {
    const finish = Promise.withResolvers<void>();
    const handled = new Collected();
    const { strategy } = await harness.start({
      first: async (batch) => {
        await handled.handle(batch);
        await finish.promise;
      },
    });
    // A busy machine is slow to elect leaders for a new topic.
    await harness.publish(harness.openLog({ publishMs: 30_000 }), 1, 1);
    await eventually(() => expect(handled.numbers).toContain(1));
    // The fetchers of the other brokers rejoin on their own.
    await server.widen(harness.topic, 7);
    await eventually(async () => expect(await server.partitionsOf('first', harness.topic)).toContain(6));
    finish.resolve();
    await strategy.drained(harness.topic, 'first', 60_000);
    // A busy machine may make the group rejoin more than once.
    expect(handled.numbers.length).toBeGreaterThanOrEqual(2);
  });

  it('a reader that failed at one broker fetches nothing from the others after it is closed', async () => {
    const reader = new PartitionReader(server.connection, harness.topic);
    const { next } = await reader.open();
    const partitions: number[] = [];
    const following = reader.follow(
      (partition) => {
        partitions.push(partition);
        if (partition === 0 && partitions.length > 20) throw new Error('it fails');
        return next.get(partition) ?? 0n;
      },
      () => Promise.resolve(),
    );
    // A broker that is slow to respond is a failure too.
    await expect(following).rejects.toThrow(/it fails|no response/);
    await reader.close();
    partitions.length = 0;
    await sleep(2_000);
    expect(partitions).toEqual([]);
  });

  it("if a group's coordinator stays down, events are handled and committed within a minute", async () => {
    const handled = new Collected();
    const { strategy } = await harness.start({ first: handled.handle });
    // The broker may also lead partitions of the topic, and a busy machine is slow to elect new leaders.
    const log = harness.openLog({ publishMs: 30_000 });
    for (const owner of OWNERS) await harness.publishAs(owner, log, { from: 1, to: 1 });
    await strategy.drained(harness.topic, 'first', 60_000);
    const coordinator = await server.coordinatorOf('first', harness.topic);
    await coordinator.kill();
    try {
      for (const owner of OWNERS) await harness.publishAs(owner, log, { from: 2, to: 2 });
      await strategy.drained(harness.topic, 'first', 60_000);
    } finally {
      await coordinator.start();
    }
    expect(handled.numbers.filter((n) => n === 2).length).toBeGreaterThanOrEqual(OWNERS.length);
  });
});

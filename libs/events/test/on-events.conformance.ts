import { setTimeout as sleep } from 'node:timers/promises';
import { defineEvent } from '@svc/contracts/messages';
import { events } from '@svc/telemetry';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Counted, upTo } from './counted-events.js';
import { Collected, EventHarness, Heard, type LogServer, eventually } from './event-harness.js';

/** Contract of every `EventStrategy` for groups. */
export function onEventsConformance(name: string, startServer: () => Promise<LogServer>): void {
  describe(`@OnEvents: ${name}`, () => {
    let server: LogServer;
    let harness: EventHarness;

    beforeAll(async () => {
      server = await startServer();
    });
    beforeEach(async () => {
      harness = await EventHarness.on(server);
    });
    afterEach(() => harness?.close());
    afterAll(() => server?.stop());

    it('delivers every event once to each group, in order and in batches', async () => {
      const [first, second] = [new Collected(), new Collected()];
      await harness.publish(harness.openLog(), 1, 1_200);
      const { strategy } = await harness.start(
        { first: first.handle, second: second.handle },
        { batchMax: 500 },
      );
      await strategy.drained(harness.topic, 'first');
      await strategy.drained(harness.topic, 'second');
      expect(first.numbers).toEqual(upTo(1_200));
      expect(second.numbers).toEqual(upTo(1_200));
      expect(Math.max(...first.batches.map((batch) => batch.length))).toBeLessThanOrEqual(500);
    });

    it('passes the key and the parsed payload, with growing ids', async () => {
      const first = new Collected();
      const { log, strategy } = await harness.start({ first: first.handle });
      await harness.publish(log, 1, 3);
      await strategy.drained(harness.topic, 'first');
      const events = first.batches.flat();
      expect(events.map(({ key, payload }) => ({ key, payload }))).toEqual(
        upTo(3).map((n) => ({ key: 'ada', payload: { owner: 'ada', n } })),
      );
      const ids = events.map(({ id }) => id);
      expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => Number(a - b)));
    });

    it('delivers the events of its own process and of others', async () => {
      const first = new Collected();
      const { log } = await harness.start({ first: first.handle });
      await harness.publish(log, 1, 1);
      await eventually(() => expect(first.numbers).toEqual([1]));
      await harness.publish(harness.openLog(), 2, 3);
      await eventually(() => expect(first.numbers).toEqual([1, 2, 3]));
    });

    it('delivers a batch again until its handler succeeds, even under a filter that swallows errors', async () => {
      const first = new Collected();
      let failures = 2;
      const { log, strategy } = await harness.start({
        first: (batch) => (failures-- > 0 ? Promise.reject(new TypeError('not now')) : first.handle(batch)),
      });
      await harness.publish(log, 1, 5);
      await strategy.drained(harness.topic, 'first');
      expect(first.numbers).toEqual([1, 2, 3, 4, 5]);
      expect(failures).toBeLessThan(0);
      expect(strategy.consumers().find(({ group }) => group === 'first')).toMatchObject({
        handled: 5,
        failures: 0,
      });
    });

    it('is not delayed by the failures of another group', async () => {
      const second = new Collected();
      const { log, strategy } = await harness.start({
        first: () => Promise.reject(new Error('never')),
        second: second.handle,
      });
      await harness.publish(log, 1, 5);
      await strategy.drained(harness.topic, 'second');
      expect(second.numbers).toEqual([1, 2, 3, 4, 5]);
      expect(await server.handledBy('first', harness.topic)).toBe(0);
      await expect(strategy.drained(harness.topic, 'first', 200)).rejects.toThrow('within 200 ms');
    });

    it('moves unreadable events to the dead topic, counts them and continues', async () => {
      const first = new Collected();
      const unreadable = ['{"owner":"ada","n":"one"}', 'no "JSON" \\'];
      for (const payload of ['{"owner":"ada","n":1}', ...unreadable, '{"owner":"ada","n":2}'])
        await server.store(harness.topic, { key: 'ada', payload });
      const { strategy } = await harness.start({ first: first.handle });
      await strategy.drained(harness.topic, 'first');
      await strategy.drained(harness.topic, 'second');
      expect(first.numbers).toEqual([1, 2]);
      expect(strategy.consumers()).toMatchObject([
        { group: 'first', handled: 2, dead: 2 },
        { group: 'second', handled: 2, dead: 2 },
      ]);
      const dead = await server.stored(`${harness.topic}.dead`);
      // The events of the two groups may be interleaved.
      expect(dead.map(({ payload }) => payload).toSorted()).toEqual(
        [...unreadable, ...unreadable].toSorted(),
      );
    });

    it('replays dead events that a version can read, and keeps the others dead', async () => {
      const first = new Collected();
      const older = defineEvent({
        ...harness.event,
        payload: z.object({ owner: z.string(), n: z.literal(1) }),
      });
      const dead = `${harness.topic}.dead`;
      for (const payload of ['{"owner":"ada","n":1}', '{"owner":"ada","n":2}', 'no JSON'])
        await server.store(dead, { key: 'ada', payload });
      const { strategy } = await harness.start({ first: first.handle });
      const letters = server.deadLetters();
      try {
        const found = await letters.list(older);
        expect([found.readable.length, found.unreadable.length]).toEqual([1, 2]);
        expect(await letters.replay(older)).toEqual({ topic: dead, published: 1, unreadable: 2 });
        expect(await letters.replay(harness.event)).toEqual({ topic: dead, published: 1, unreadable: 1 });
        expect(await letters.replay(harness.event)).toEqual({ topic: dead, published: 0, unreadable: 1 });
        await strategy.drained(harness.topic, 'first');
        expect(first.numbers).toEqual([1, 2]);
        expect((await letters.list(harness.event)).unreadable.map(({ payload }) => payload)).toEqual([
          'no JSON',
        ]);
      } finally {
        await letters.close();
      }
    });

    it('continues where the group stopped', async () => {
      const first = new Collected();
      const one = await harness.start({ first: first.handle });
      await harness.publish(one.log, 1, 3);
      await one.strategy.drained(harness.topic, 'first');
      await one.close();
      await harness.publish(harness.openLog(), 4, 6);
      const two = await harness.start({ first: first.handle });
      await two.strategy.drained(harness.topic, 'first');
      expect(first.numbers).toEqual([1, 2, 3, 4, 5, 6]);
    });

    it('delivers again what a process did not finish', async () => {
      const started = Promise.withResolvers<void>();
      const hanging = await harness.start(
        {
          first: () => {
            started.resolve();
            return new Promise(() => undefined);
          },
        },
        { stopMs: 100 },
      );
      await harness.publish(hanging.log, 1, 3);
      await started.promise;
      await hanging.close();
      expect(await server.handledBy('first', harness.topic)).toBe(0);
      const first = new Collected();
      const next = await harness.start({ first: first.handle });
      await next.strategy.drained(harness.topic, 'first', 60_000);
      expect([...new Set(first.numbers)]).toEqual([1, 2, 3]);
    });

    it('finishes the running batch when it is stopped', async () => {
      const started = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      const handled: number[] = [];
      const stopping = await harness.start(
        {
          first: async (batch) => {
            started.resolve();
            await release.promise;
            handled.push(...batch.map(({ payload }) => payload.n));
          },
        },
        { batchMax: 2 },
      );
      await harness.publish(stopping.log, 1, 4);
      await started.promise;
      const closed = stopping.close();
      release.resolve();
      await closed;
      expect(handled.length).toBeGreaterThan(0);
      expect(await server.handledBy('first', harness.topic)).toBe(handled.length);
    });

    it('shares a group among processes, each key with one at a time, and continues when one leaves', async () => {
      const owners = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay'];
      const seen = new Map(owners.map((owner) => [owner, [] as number[]]));
      const busy = new Set<string>();
      let overlaps = 0;
      const handle = async (batch: readonly { key: string; payload: Counted }[]): Promise<void> => {
        const keys = [...new Set(batch.map(({ key }) => key))];
        overlaps += keys.filter((key) => busy.has(key)).length;
        for (const key of keys) busy.add(key);
        await new Promise((resolve) => setTimeout(resolve, 5));
        for (const { key, payload } of batch) seen.get(key)?.push(payload.n);
        for (const key of keys) busy.delete(key);
      };
      const one = await harness.start({ first: handle });
      const two = await harness.start({ first: handle });
      const publish = (from: number, to: number): Promise<unknown> =>
        Promise.all(owners.map((owner) => harness.publishAs(owner, two.log, { from, to })));
      await publish(1, 50);
      await two.strategy.drained(harness.topic, 'first', 60_000);
      const closed = one.close();
      await publish(51, 100);
      await closed;
      await publish(101, 120);
      await two.strategy.drained(harness.topic, 'first', 60_000);
      for (const owner of owners) expect([...new Set(seen.get(owner))]).toEqual(upTo(120));
      expect(overlaps).toBe(0);
    });

    it('handles events and broadcasts in a process that started before the topic was created', async () => {
      const early = EventHarness.withoutTopic(server);
      const [first, heard] = [new Collected(), new Heard()];
      const { strategy, log } = await early.start({ first: first.handle });
      await early.start({ hear: heard.hear });
      const tooEarly = early.publish(log, 1, 1).catch(() => undefined);
      await sleep(1_000);
      await server.createTopic(early.topic);
      await tooEarly;
      await eventually(() => early.publish(log, 2, 2));
      await strategy.drained(early.topic, 'first', 60_000);
      expect(first.numbers).toContain(2);
      // Broadcasts arrive only once its listener is ready.
      await eventually(async () => {
        await early.publish(log, 3, 3);
        expect(heard.numbers).toContain(3);
      });
      await early.close();
    });

    it('measures the age of an event from when it was stored until it is handled', async () => {
      const age = (): number =>
        events.oldest
          .points()
          .find(({ values: [topic, group] }) => topic === harness.topic && group === 'first')?.value ??
        Number.NaN;
      const release = Promise.withResolvers<void>();
      const { log, strategy } = await harness.start({ first: () => release.promise });
      const beforeMs = Date.now();
      await harness.publish(log, 1, 1);
      const storedMs = Date.now();
      await eventually(() => expect(age()).toBeGreaterThan(0.3));
      const least = Date.now() - storedMs;
      const measured = age() * 1_000;
      // Clocks count whole milliseconds.
      expect(measured).toBeGreaterThanOrEqual(least - 5);
      expect(measured).toBeLessThanOrEqual(Date.now() - beforeMs + 5);
      release.resolve();
      await strategy.drained(harness.topic, 'first');
      await eventually(() => expect(age()).toBe(0));
    });

    it('keeps topics apart', async () => {
      const other = defineEvent({ ...harness.event, topic: `other-${harness.topic as 'x.v1'}` });
      await server.createTopic(other.topic);
      const first = new Collected();
      const { log, strategy } = await harness.start({ first: first.handle });
      await log.publish(other, { owner: 'ada', n: 99 });
      await harness.publish(log, 1, 2);
      await strategy.drained(harness.topic, 'first');
      expect(first.numbers).toEqual([1, 2]);
    });
  });
}

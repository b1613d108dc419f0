import { defineEvent } from '@svc/contracts/messages';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EventNotStored } from '../src/index.js';
import { upTo } from './counted-events.js';
import { EventHarness, type LogServer, eventually } from './event-harness.js';

/** Contract of every `EventLog`. */
export function eventLogConformance(name: string, startServer: () => Promise<LogServer>): void {
  describe(`EventLog: ${name}`, () => {
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

    const numbers = async (): Promise<number[]> =>
      (await server.stored(harness.topic)).map(({ payload }) => (JSON.parse(payload) as { n: number }).n);

    it('resolves once the event is stored, in the order of the calls', async () => {
      await harness.publish(harness.openLog(), 1, 2_500);
      expect(await server.stored(harness.topic)).toEqual(
        upTo(2_500).map((n) => ({ key: 'ada', payload: JSON.stringify({ owner: 'ada', n }) })),
      );
    });

    it('keeps every character of a payload', async () => {
      const owner = 'quote " back \\ brace } comma , null \u0000 unit \u001e line \n ☃ 😀 half \ud800';
      const event = defineEvent({ ...harness.event, key: () => 'key' });
      await harness.openLog().publish(event, { owner, n: 1 });
      const [stored] = await server.stored(harness.topic);
      expect(JSON.parse(stored?.payload ?? '')).toEqual({ owner, n: 1 });
    });

    it.each(['', 'a\u001eb', 'a\u0000b'])(
      'rejects the key %j, and stores the events around it',
      async (owner) => {
        const log = harness.openLog();
        const results = await Promise.allSettled([
          log.publish(harness.event, { owner: 'ada', n: 1 }),
          log.publish(harness.event, { owner, n: 2 }),
          log.publish(harness.event, { owner: 'ada', n: 3 }),
        ]);
        expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
        expect(await numbers()).toEqual([1, 3]);
      },
    );

    it('rejects further events when too many are waiting', async () => {
      const log = harness.openLog({ maxPending: 10 });
      const results = await Promise.allSettled(
        upTo(15).map((n) => log.publish(harness.event, { owner: 'ada', n })),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
      await log.publish(harness.event, { owner: 'ada', n: 16 });
      expect(await numbers()).toEqual([...upTo(10), 16]);
    });

    it('rejects at its deadline while the server does not respond, and works again when it does', async () => {
      const log = harness.openLog({ publishMs: 300 });
      await eventually(() => log.publish(harness.event, { owner: 'ada', n: 1 }));
      await server.pause();
      const results = await Promise.allSettled(
        [2, 3, 4].map((n) => log.publish(harness.event, { owner: 'ada', n })),
      );
      const late = await log.publish(harness.event, { owner: 'ada', n: 5 }).catch((error: unknown) => error);
      await server.resume();
      for (const result of results)
        expect(result.status === 'rejected' && result.reason).toBeInstanceOf(EventNotStored);
      expect(late).toBeInstanceOf(EventNotStored);
      await eventually(() => log.publish(harness.event, { owner: 'ada', n: 6 }));
      expect((await numbers()).at(0)).toBe(1);
      expect(await numbers()).toContain(6);
    });

    it('keeps the order of a key over an outage that ends within the deadline', async () => {
      const log = harness.openLog({ publishMs: 60_000 });
      await harness.publish(log, 1, 10);
      await server.pause();
      const waiting = harness.publish(log, 11, 500);
      setTimeout(() => void server.resume(), 2_000);
      await waiting;
      await harness.publish(log, 501, 510);
      // An event may be stored more than once: the order of the first copies counts.
      expect([...new Set(await numbers())]).toEqual(upTo(510));
    });

    it('stores waiting events before it closes, and rejects later ones', async () => {
      const log = harness.openLog();
      const waiting = harness.publish(log, 1, 50);
      await log.onApplicationShutdown();
      await waiting;
      await expect(log.publish(harness.event, { owner: 'ada', n: 51 })).rejects.toBeInstanceOf(
        EventNotStored,
      );
      expect(await numbers()).toEqual(upTo(50));
    });
  });
}

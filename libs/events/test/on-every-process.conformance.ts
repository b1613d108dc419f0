import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { upTo } from './counted-events.js';
import { EventHarness, Heard, type LogServer, eventually } from './event-harness.js';

/** Contract of every `EventStrategy` for broadcasts. */
export function onEveryProcessConformance(name: string, startServer: () => Promise<LogServer>): void {
  describe(`@OnEveryProcess: ${name}`, () => {
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

    /** A process that is listening once this returns. */
    async function listen(heard = new Heard()): Promise<Heard> {
      const { log } = await harness.start({ hear: heard.hear });
      await heard.untilListening((mark) => harness.publish(log, mark, mark));
      return heard;
    }

    it('notifies every process of what is published while it listens, and of nothing earlier', async () => {
      const log = harness.openLog();
      await harness.publish(log, 1, 3);
      const [one, two] = [await listen(), await listen()];
      expect([one.missed[0], two.missed[0]]).toEqual([true, true]);
      await harness.publish(log, 4, 1_200);
      const expected = upTo(1_200).slice(3);
      await eventually(() => expect([one.numbers, two.numbers]).toEqual([expected, expected]));
      expect(one.missed.at(-1)).toBe(false);
    });

    it('notifies again after its handler failed, even under a filter that swallows errors', async () => {
      const heard = await listen();
      heard.failures = 2;
      await harness.publish(harness.openLog(), 1, 1);
      await eventually(() => expect(heard.numbers).toEqual([1]));
      expect(heard.failures).toBeLessThan(0);
    });

    it('reports missed events when an event is unreadable', async () => {
      const heard = await listen();
      const before = heard.news.length;
      await server.store(harness.topic, { key: 'ada', payload: 'no JSON' });
      await eventually(() => expect(heard.missed.slice(before)).toContain(true));
    });

    it('reports possibly missing events while the log cannot be read, and then delivers those published meanwhile', async () => {
      const heard = await listen();
      const log = harness.openLog({ publishMs: 60_000 });
      await harness.publish(log, 1, 1);
      await eventually(() => expect(heard.numbers).toEqual([1]));
      const before = heard.news.length;
      await server.pause();
      await eventually(() => expect(heard.missed.slice(before)).toContain(true));
      const waiting = harness.publish(log, 2, 2);
      await server.resume();
      await waiting;
      await eventually(() => expect([...new Set(heard.numbers)]).toEqual([1, 2]));
      await harness.publish(log, 3, 3);
      await eventually(() => expect([...new Set(heard.numbers)]).toEqual([1, 2, 3]));
    });
  });
}

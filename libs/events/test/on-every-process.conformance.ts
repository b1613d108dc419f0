import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { upTo } from './counted-events.js';
import { EventStage, Heard, type LogServer, eventually } from './event-stage.js';

/** Contract of every `EventStrategy` for broadcasts. */
export function onEveryProcessConformance(name: string, startServer: () => Promise<LogServer>): void {
  describe(`@OnEveryProcess: ${name}`, () => {
    let server: LogServer;
    let stage: EventStage;

    beforeAll(async () => {
      server = await startServer();
    });
    beforeEach(async () => {
      stage = await EventStage.on(server);
    });
    afterEach(() => stage?.close());
    afterAll(() => server?.stop());

    /** A process that is listening once this returns. */
    async function listen(heard = new Heard()): Promise<Heard> {
      await stage.start({ hear: heard.hear });
      await eventually(() => expect(heard.missed[0]).toBe(true));
      return heard;
    }

    it('notifies every process of what is published while it listens, and of nothing earlier', async () => {
      const log = stage.openLog();
      await stage.publish(log, 1, 3);
      const [one, two] = [await listen(), await listen()];
      await stage.publish(log, 4, 1_200);
      const expected = upTo(1_200).slice(3);
      await eventually(() => expect([one.numbers, two.numbers]).toEqual([expected, expected]));
      expect(one.missed).toContain(false);
    });

    it('notifies again after its handler failed, even under a filter that swallows errors', async () => {
      const heard = await listen();
      heard.failures = 2;
      await stage.publish(stage.openLog(), 1, 1);
      await eventually(() => expect(heard.numbers).toEqual([1]));
      expect(heard.failures).toBeLessThan(0);
    });

    it('reports missed events when an event is unreadable', async () => {
      const heard = await listen();
      const before = heard.news.length;
      await server.store(stage.topic, { key: 'ada', payload: 'no JSON' });
      await eventually(() => expect(heard.missed.slice(before)).toContain(true));
    });

    it('reports possibly missing events while the log cannot be read, and then delivers those published meanwhile', async () => {
      const heard = await listen();
      const log = stage.openLog({ publishMs: 60_000 });
      await stage.publish(log, 1, 1);
      await eventually(() => expect(heard.numbers).toEqual([1]));
      const before = heard.news.length;
      await server.pause();
      await eventually(() => expect(heard.missed.slice(before)).toContain(true));
      const waiting = stage.publish(log, 2, 2);
      await server.resume();
      await waiting;
      await eventually(() => expect([...new Set(heard.numbers)]).toEqual([1, 2]));
      await stage.publish(log, 3, 3);
      await eventually(() => expect([...new Set(heard.numbers)]).toEqual([1, 2, 3]));
    });
  });
}

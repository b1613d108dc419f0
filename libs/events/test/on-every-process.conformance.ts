import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { upTo } from '../src/testing.js';
import { EventStage, Heard, type LogServer, eventually } from './event-stage.js';

/** What every `EventStrategy` keeps for what every process hears. */
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

    /** A process that hears, from the return on. */
    async function listen(heard = new Heard()): Promise<Heard> {
      await stage.start({ hear: heard.hear });
      await eventually(() => expect(heard.missed[0]).toBe(true));
      return heard;
    }

    it('tells every process of what is told while it listens, and of nothing before', async () => {
      const log = stage.openLog();
      await stage.publish(log, 1, 3);
      const [one, two] = [await listen(), await listen()];
      await stage.publish(log, 4, 1_200);
      const expected = upTo(1_200).slice(3);
      await eventually(() => expect([one.numbers, two.numbers]).toEqual([expected, expected]));
      expect(one.missed).toContain(false);
    });

    it('tells again what its handler could not take, even under a filter that swallows errors', async () => {
      const heard = await listen();
      heard.failures = 2;
      await stage.publish(stage.openLog(), 1, 1);
      await eventually(() => expect(heard.numbers).toEqual([1]));
      expect(heard.failures).toBeLessThan(0);
    });

    it('says that something was missed when it can read no sense in an event', async () => {
      const heard = await listen();
      const before = heard.news.length;
      await server.store(stage.topic, { key: 'ada', payload: 'no JSON' });
      await eventually(() => expect(heard.missed.slice(before)).toContain(true));
    });

    it('says that events may be missing while the log can not be read, and then brings those told meanwhile', async () => {
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

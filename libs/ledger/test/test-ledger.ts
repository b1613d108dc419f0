import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll } from 'vitest';
import { type RunningLedger, startLedger } from './testing.js';

/** A ledger with a database of its own, which runs during the tests of a file. */
export function testLedger(): RunningLedger {
  const running = {} as RunningLedger;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await startTestDatabase();
    Object.assign(running, await startLedger({ url: database.url }));
  });
  afterAll(async () => {
    await running.stop();
    await database.stop();
  });
  return running;
}

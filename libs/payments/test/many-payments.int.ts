import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnvilWorld } from './anvil-world.js';
import { type Offered, offerOf } from './offers.js';
import { PaymentProcess, playedRail } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';

/** More than a pool has connections. */
const AT_ONCE = 12;

let database: TestDatabase;
let ledger: RunningLedger;
let world: AnvilWorld;
let service: PaymentProcess;
let times: PaymentTimes;

beforeAll(async () => {
  database = await startTestDatabase();
  ledger = await startLedger({ url: database.url });
  world = await AnvilWorld.start();
  times = new PaymentTimes(ledger.database);
  service = new PaymentProcess({
    database: ledger.database,
    books: ledger.books,
    areBooksThere: () => true,
    railOf: playedRail(world, { submits: 'signer', confirmations: 1 }),
  });
});
afterAll(async () => {
  await world?.stop();
  await ledger?.stop();
  await database?.stop();
});

const statesOf = (offers: readonly Offered[]): Promise<(string | undefined)[]> =>
  Promise.all(offers.map(async ({ authorization }) => (await times.payment(authorization))?.state));

describe('more payments at once than a pool has connections', () => {
  it('are all on their way at the first try, one after the other, and are credited', async () => {
    const payers = await world.payers();
    const offers: Offered[] = [];
    while (offers.length < AT_ONCE)
      offers.push(await offerOf(world, payers[offers.length % payers.length] ?? '0x', 5));
    const outcomes = await Promise.allSettled(offers.map(({ header }) => service.payments.topUp(header)));
    expect(outcomes.map(({ status }) => status)).toEqual(offers.map(() => 'fulfilled'));
    expect(await statesOf(offers)).toEqual(offers.map(() => 'BROADCAST'));
    await world.mine(1);
    await times.pass(0);
    await service.goOn();
    expect(await statesOf(offers)).toEqual(offers.map(() => 'CREDITED'));
    expect(await service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

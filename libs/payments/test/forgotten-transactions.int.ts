import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnvilWorld } from './anvil-world.js';
import { type Offered, offerOf } from './offers.js';
import { PaymentProcess, playedRail } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';

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

const stateOf = async ({ authorization }: Offered): Promise<string | undefined> =>
  (await times.payment(authorization))?.state;

/** Time goes on by so many minutes, and the service with it. */
async function goOn(minutes: number): Promise<void> {
  await times.pass(minutes);
  await service.goOn();
  await world.mine(1);
  await times.pass(0);
  await service.goOn();
}

/** Payments that are on their way, one after the other. */
async function sent(count: number): Promise<Offered[]> {
  const payers = await world.payers();
  const offers: Offered[] = [];
  for (const from of payers.slice(0, count)) {
    const offered = await offerOf(world, from, 5);
    expect(await service.payments.topUp(offered.header)).toMatchObject({ state: 'open' });
    offers.push(offered);
  }
  return offers;
}

const ownNumber = async (): Promise<number> =>
  Number(await world.chain.call('eth_getTransactionCount', [world.signer.address, 'latest']));

describe('a transaction of our own that the node forgets', () => {
  it('is sent again by itself', async () => {
    const [one] = await sent(1);
    await world.clear();
    await goOn(0);
    expect(one && (await stateOf(one))).toBe('CREDITED');
  });

  it('and that nobody needs any more leaves its number to those that wait behind it, without a further payment', async () => {
    const [settled, second, third] = await sent(3);
    if (!settled || !second || !third) throw new Error('three are sent');
    const before = await ownNumber();
    const { transaction } = (await times.payment(settled.authorization)) ?? {};
    await world.chain.call('anvil_dropTransaction', [transaction]);
    await world.use(settled.authorization, 'settle');
    await world.mine(1);
    await goOn(0);
    expect(await stateOf(settled)).toBe('CREDITED');
    expect([await stateOf(second), await stateOf(third)]).toEqual(['BROADCAST', 'BROADCAST']);
    expect(await ownNumber()).toBe(before);
    await goOn(1);
    await goOn(1);
    expect([await stateOf(second), await stateOf(third)]).toEqual(['CREDITED', 'CREDITED']);
    expect(await service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

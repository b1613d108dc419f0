import { BASE_USDC } from '@svc/contracts';
import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { concatHex, keccak256, numberToHex, pad } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Authorization } from '../src/header/payment-header.js';
import { AnvilWorld } from './anvil-world.js';
import { headerOf, offerOf } from './offers.js';
import { PaymentProcess, playedRail } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';
import { PAY_TO } from './played-chain.js';
import { randomHex } from './simulated-chain.js';

/** Where the token keeps which authorizations are spent. Source: `test-usdc.sol`. */
const SPENT_SLOT = 3n;

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
    railOf: playedRail(world, { submits: 'signer', confirmations: 2 }),
  });
});
afterAll(async () => {
  await world?.stop();
  await ledger?.stop();
  await database?.stop();
});

/** What a payer has signed for somebody, used by somebody else. */
async function used(
  how: 'settle' | 'cancel',
  to: Authorization['to'],
  blocks: number,
): Promise<Authorization> {
  const [from = '0x'] = await world.payers();
  const { signature: _signature, ...unsigned } = (await offerOf(world, from, 5)).authorization;
  const authorization = await world.sign({ ...unsigned, to });
  await world.use(authorization, how);
  await world.mine(blocks);
  return authorization;
}

/** Who has not signed names it as a payment to us. */
const forged = (authorization: Authorization): Authorization => ({
  ...authorization,
  to: PAY_TO,
  signature: randomHex(65),
});

describe('an authorization that was spent before its payment came', () => {
  it.each([
    ['that paid somebody else', 'settle', 3],
    ['that was canceled', 'cancel', 3],
  ] as const)('%s is refused, and leaves nothing', async (_what, how, blocks) => {
    const payment = forged(await used(how, randomHex(20), blocks));
    await expect(service.payments.topUp(headerOf(payment))).rejects.toMatchObject({
      code: 'PAYMENT_VERIFICATION_FAILED',
    });
    expect(await times.payment(payment)).toBeUndefined();
  });

  it('so long ago that no node says where is refused, and leaves nothing', async () => {
    const [from = '0x'] = await world.payers();
    const { authorization } = await offerOf(world, from, 5);
    const ofPayer = keccak256(concatHex([pad(from), numberToHex(SPENT_SLOT, { size: 32 })]));
    const slot = keccak256(concatHex([authorization.nonce, ofPayer]));
    await world.chain.call('anvil_setStorageAt', [BASE_USDC, slot, numberToHex(1n, { size: 32 })]);
    await world.mine(70);
    const payment = forged(authorization);
    await expect(service.payments.topUp(headerOf(payment))).rejects.toMatchObject({
      code: 'PAYMENT_VERIFICATION_FAILED',
    });
    expect(await times.payment(payment)).toBeUndefined();
  });

  it('and has paid us is credited, once it is old enough', async () => {
    const payment = await used('settle', PAY_TO, 1);
    expect(await service.payments.topUp(headerOf(payment))).toMatchObject({ state: 'open' });
    await world.mine(1);
    await times.pass(1);
    await service.goOn();
    expect(await service.payments.topUp(headerOf(payment))).toMatchObject({
      state: 'credited',
      usdNano: 5_000_000_000n,
    });
  });

  it('is found by its row, where it was kept before', async () => {
    const [from = '0x'] = await world.payers();
    const { authorization, header } = await offerOf(world, from, 5);
    expect(await service.payments.topUp(header)).toMatchObject({ state: 'open' });
    await world.mine(3);
    await times.pass(1);
    expect(await service.payments.topUp(header)).toMatchObject({ state: 'credited' });
    expect(await times.payment(authorization)).toMatchObject({ state: 'CREDITED' });
    expect(await service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

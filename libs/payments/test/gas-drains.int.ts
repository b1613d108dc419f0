import { BASE_NETWORK, BASE_USDC } from '@svc/contracts';
import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnvilWorld } from './anvil-world.js';
import { type Offered, UNITS_PER_USD, headerOf, offerOf } from './offers.js';
import { PaymentProcess, playedRail } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';
import { PAY_TO } from './played-chain.js';
import { randomHex } from './simulated-chain.js';

/** PUSH4 the word by which a wallet says yes, PUSH1 224, SHL, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN. */
const YES = '631626ba7e60e01b5f5260205ff3';

/** GASPRICE, JUMPI to where it reverts: it says yes to who only asks, and no in a block. */
const TWO_FACED = `0x3a601257${YES}5b5f5ffd`;

/** Counts down from this, at 26 gas each, and says yes. */
const counting = (from: number) => `0x62${from.toString(16).padStart(6, '0')}5b600190038060045750${YES}`;

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

/** What a wallet with this code pays. */
async function offeredBy(code: string): Promise<Offered> {
  const from = randomHex(20);
  await world.chain.call('anvil_setCode', [from, code]);
  await world.chain.call('evm_setAutomine', [true]);
  await world.chain.mint(from, 100);
  await world.chain.call('evm_setAutomine', [false]);
  const authorization = {
    network: BASE_NETWORK,
    asset: BASE_USDC,
    from,
    to: PAY_TO,
    value: 5n * UNITS_PER_USD,
    validAfter: 0n,
    validBefore: (await world.time()) + 300n,
    nonce: randomHex(32),
    signature: randomHex(65),
  } as const;
  return { authorization, header: headerOf(authorization) };
}

const ownNumber = async (): Promise<number> =>
  Number(await world.chain.call('eth_getTransactionCount', [world.signer.address, 'latest']));

async function goOn(): Promise<void> {
  await times.pass(1);
  await service.goOn();
  await world.mine(1);
}

describe('a wallet that is a contract', () => {
  it('pays, if it needs no more gas than it should', async () => {
    const { header, authorization } = await offeredBy(counting(5_000));
    expect(await service.payments.topUp(header)).toMatchObject({ state: 'open' });
    await goOn();
    await goOn();
    expect(await times.payment(authorization)).toMatchObject({ state: 'CREDITED' });
  });

  it('and burns gas before it says yes is refused, and costs none', async () => {
    const before = await ownNumber();
    const { header, authorization } = await offeredBy(counting(65_536));
    await expect(service.payments.topUp(header)).rejects.toMatchObject({
      code: 'PAYMENT_VERIFICATION_FAILED',
    });
    await goOn();
    expect(await times.payment(authorization)).toBeUndefined();
    expect(await ownNumber()).toBe(before);
  });

  it('and says no in every block costs two transactions, and its payment fails when it has expired', async () => {
    const before = await ownNumber();
    const { header, authorization } = await offeredBy(TWO_FACED);
    expect(await service.payments.topUp(header)).toMatchObject({ state: 'open' });
    for (let turn = 0; turn < 6; turn += 1) await goOn();
    expect(await ownNumber()).toBe(before + 2);
    expect(await times.payment(authorization)).toMatchObject({ state: 'BROADCAST' });
    await world.mine(40);
    await goOn();
    expect(await times.payment(authorization)).toMatchObject({
      state: 'FAILED',
      reason: 'the authorization has expired',
    });
    expect(await ownNumber()).toBe(before + 2);
    expect(await service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

describe('a payment that could be settled for long', () => {
  it('is refused, and leaves nothing; one of less than an hour is taken', async () => {
    const [from = '0x'] = await world.payers();
    const { signature: _signature, ...unsigned } = (await offerOf(world, from, 5)).authorization;
    const now = await world.time();
    const long = await world.sign({ ...unsigned, validBefore: now + 3_700n });
    await expect(service.payments.topUp(headerOf(long))).rejects.toMatchObject({
      code: 'PAYMENT_VERIFICATION_FAILED',
      message: expect.stringContaining('validBefore'),
    });
    expect(await times.payment(long)).toBeUndefined();
    const short = await world.sign({ ...unsigned, validBefore: now + 3_500n });
    expect(await service.payments.topUp(headerOf(short))).toMatchObject({ state: 'open' });
  });
});

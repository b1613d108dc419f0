import { LocalSolana } from '@svc/infra';
import { Charges, walletAccountId } from '@svc/contracts';
import { type RunningLedger, chargeOf, startLedger } from '@svc/ledger/testing';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Payment } from '../src/records/payment.store.js';
import { bookedNano } from './bookings.js';
import { PaymentProcess } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';
import { SolanaWorld } from './solana-world.js';

const fault = await LocalSolana.fault();
if (fault !== undefined) process.emitWarning(`Forks of Solana are not tested. ${fault}`);

const PRICE_NANO = 5_000_000_000n;

let database: TestDatabase;
let ledger: RunningLedger;
let world: SolanaWorld;
let times: PaymentTimes;
let service: PaymentProcess;

beforeAll(async () => {
  if (fault !== undefined) return;
  database = await startTestDatabase();
  ledger = await startLedger({ url: database.url });
  world = await SolanaWorld.start();
  world.chain.commitment = 'confirmed';
  times = new PaymentTimes(ledger.database);
  service = new PaymentProcess({
    database: ledger.database,
    books: ledger.books,
    areBooksThere: () => true,
    railOf: world.railOf('confirmed'),
  });
});
afterAll(async () => {
  world?.stop();
  await ledger?.stop();
  await database?.stop();
});

interface Credited {
  readonly header: string;
  readonly accountId: string;
  readonly now: () => Promise<Payment>;
}

/** A payment of 5 USDC, credited in a block that is not finalized. */
async function credited(): Promise<Credited> {
  const payer = await world.payer();
  const header = await world.headerOf(payer, 5);
  const { paymentId } = await service.payments.topUp(header);
  const now = async (): Promise<Payment> => {
    const payment = await times.byId(paymentId);
    if (!payment) throw new Error('a payment is kept');
    return payment;
  };
  await goOn();
  expect(await now()).toMatchObject({ state: 'CREDITED', reversals: 0 });
  return { header, now, accountId: walletAccountId(payer.address) };
}

async function goOn(): Promise<void> {
  await times.pass(1);
  await service.goOn();
}

async function dropped({ now }: Credited): Promise<void> {
  world.chain.ledger.forget((await now()).transaction ?? '');
}

const balanceOf = async ({ accountId }: Credited): Promise<bigint> =>
  (await ledger.books.balances(accountId)).usdNano;

describe.skipIf(fault !== undefined)('a credited payment whose block is dropped', () => {
  it('is sent again while it can be included, and stays credited', async () => {
    const one = await credited();
    const before = await world.chain.balanceOf(world.payTo);
    await dropped(one);
    expect(await world.chain.balanceOf(world.payTo)).toBe(before - 5_000_000n);
    await goOn();
    await goOn();
    expect(await one.now()).toMatchObject({ state: 'CREDITED', reversals: 0 });
    expect(await world.chain.balanceOf(world.payTo)).toBe(before);
    expect(await balanceOf(one)).toBe(PRICE_NANO);
  });

  it('is not reversed while it may still be included', async () => {
    const one = await credited();
    world.chain.reception = 'lost';
    await dropped(one);
    await goOn();
    await goOn();
    expect(await one.now()).toMatchObject({ state: 'CREDITED', reversals: 0 });
    world.chain.reception = 'lands';
    await goOn();
    expect(world.chain.ledger.find((await one.now()).transaction ?? '')).toMatchObject({ error: null });
  });

  it('is reversed once it can no longer be included; spent money becomes a debt, and the payment fails', async () => {
    const one = await credited();
    await ledger.app.get(Charges, { strict: false }).post([chargeOf(one.accountId, PRICE_NANO)]);
    world.chain.reception = 'lost';
    await dropped(one);
    world.chain.pass(151);
    await goOn();
    world.chain.reception = 'lands';
    expect(await one.now()).toMatchObject({ state: 'FAILED', reversals: 1 });
    expect(await bookedNano(ledger.books, await one.now())).toBe(0n);
    expect(await balanceOf(one)).toBe(0n);
    await expect(service.payments.topUp(one.header)).rejects.toMatchObject({ code: 'SETTLEMENT_FAILED' });
    expect(await ledger.books.audit('whole')).toMatchObject({ ok: true });
  });

  it('is not reversed because of a node that has forgotten it', async () => {
    const one = await credited();
    world.chain.pass(151);
    world.chain.interference = (method) => {
      if (method === 'getSignatureStatuses') return { context: { slot: 5 }, value: [null] };
      return undefined;
    };
    await goOn();
    world.chain.interference = (method) => {
      if (method === 'getSignatureStatuses') return { context: { slot: 1_000_000 }, value: [null] };
      if (method === 'getFirstAvailableBlock') return 900_000;
      return undefined;
    };
    await goOn();
    world.chain.interference = () => undefined;
    expect(await one.now()).toMatchObject({ state: 'CREDITED', reversals: 0 });
    expect(await service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

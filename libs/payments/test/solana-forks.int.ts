import { LocalSolana } from '@svc/infra';
import { Charges, walletAccountId } from '@svc/contracts/ports';
import { type RunningLedger, chargeOf, startLedger } from '@svc/ledger/testing';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Payment } from '../src/records/payment.store.js';
import { bookedNano } from './bookings.js';
import { PaymentProcess } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';
import { SolanaHarness } from './solana-harness.js';

const fault = await LocalSolana.fault();
if (fault !== undefined) process.emitWarning(`Forks of Solana are not tested. ${fault}`);

const PRICE_NANO = 5_000_000_000n;

let database: TestDatabase;
let ledger: RunningLedger;
let harness: SolanaHarness;
let times: PaymentTimes;
let service: PaymentProcess;

beforeAll(async () => {
  if (fault !== undefined) return;
  database = await startTestDatabase();
  ledger = await startLedger({ url: database.url });
  harness = await SolanaHarness.start();
  harness.chain.commitment = 'confirmed';
  times = new PaymentTimes(ledger.database);
  service = new PaymentProcess({
    database: ledger.database,
    books: ledger.books,
    areBooksThere: () => true,
    railOf: harness.railOf('confirmed'),
  });
});
afterAll(async () => {
  harness?.stop();
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
  const payer = await harness.payer();
  const header = await harness.headerOf(payer, 5);
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
  harness.chain.ledger.forget((await now()).transaction ?? '');
}

const balanceOf = async ({ accountId }: Credited): Promise<bigint> =>
  (await ledger.books.balances(accountId)).usdNano;

describe.skipIf(fault !== undefined)('a credited payment whose block is dropped', () => {
  it('is sent again while it can be included, and stays credited', async () => {
    const one = await credited();
    const before = await harness.chain.balanceOf(harness.payTo);
    await dropped(one);
    expect(await harness.chain.balanceOf(harness.payTo)).toBe(before - 5_000_000n);
    await goOn();
    await goOn();
    expect(await one.now()).toMatchObject({ state: 'CREDITED', reversals: 0 });
    expect(await harness.chain.balanceOf(harness.payTo)).toBe(before);
    expect(await balanceOf(one)).toBe(PRICE_NANO);
  });

  it('is not reversed while it may still be included', async () => {
    const one = await credited();
    harness.chain.reception = 'lost';
    await dropped(one);
    await goOn();
    await goOn();
    expect(await one.now()).toMatchObject({ state: 'CREDITED', reversals: 0 });
    harness.chain.reception = 'lands';
    await goOn();
    expect(harness.chain.ledger.find((await one.now()).transaction ?? '')).toMatchObject({ error: null });
  });

  it('is reversed once it can no longer be included; spent money becomes a debt, and the payment fails', async () => {
    const one = await credited();
    await ledger.app.get(Charges, { strict: false }).post([chargeOf(one.accountId, PRICE_NANO)]);
    harness.chain.reception = 'lost';
    await dropped(one);
    harness.chain.pass(151);
    await goOn();
    harness.chain.reception = 'lands';
    expect(await one.now()).toMatchObject({ state: 'FAILED', reversals: 1 });
    expect(await bookedNano(ledger.books, await one.now())).toBe(0n);
    expect(await balanceOf(one)).toBe(0n);
    await expect(service.payments.topUp(one.header)).rejects.toMatchObject({ code: 'SETTLEMENT_FAILED' });
    expect(await ledger.books.audit('whole')).toMatchObject({ ok: true });
  });

  it('is not reversed because of a node that has forgotten it', async () => {
    const one = await credited();
    harness.chain.pass(151);
    harness.chain.interference = (method) => {
      if (method === 'getSignatureStatuses') return { context: { slot: 5 }, value: [null] };
      return undefined;
    };
    await goOn();
    harness.chain.interference = (method) => {
      if (method === 'getSignatureStatuses') return { context: { slot: 1_000_000 }, value: [null] };
      if (method === 'getFirstAvailableBlock') return 900_000;
      return undefined;
    };
    await goOn();
    harness.chain.interference = () => undefined;
    expect(await one.now()).toMatchObject({ state: 'CREDITED', reversals: 0 });
    expect(await service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

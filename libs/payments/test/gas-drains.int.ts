import { BASE_NETWORK, BASE_USDC } from '@svc/contracts/money';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedOffer, UNITS_PER_USD, headerOf, offerOf } from './offers.js';
import { type PaymentFixture, startPaymentFixture } from './payment-fixture.js';
import { PAY_TO } from './test-chain.js';
import { randomHex } from './simulated-chain.js';

/**
 * Bytecode: PUSH4 with the return value by which a wallet accepts, PUSH1 224, SHL, PUSH0, MSTORE, PUSH1 32,
 * PUSH0, RETURN.
 */
const YES = '631626ba7e60e01b5f5260205ff3';

/** Bytecode: GASPRICE, JUMPI to a revert. It accepts in simulations and rejects in a block. */
const TWO_FACED = `0x3a601257${YES}5b5f5ffd`;

/** Bytecode: counts down from this, at 26 gas each, then accepts. */
const counting = (from: number) => `0x62${from.toString(16).padStart(6, '0')}5b600190038060045750${YES}`;

let fixture: PaymentFixture;

beforeAll(async () => {
  fixture = await startPaymentFixture();
});
afterAll(() => fixture?.stop());

/** A payment by a wallet with this code. */
async function offeredBy(code: string): Promise<SignedOffer> {
  const from = randomHex(20);
  await fixture.harness.chain.call('anvil_setCode', [from, code]);
  await fixture.harness.chain.call('evm_setAutomine', [true]);
  await fixture.harness.chain.mint(from, 100);
  await fixture.harness.chain.call('evm_setAutomine', [false]);
  const authorization = {
    network: BASE_NETWORK,
    asset: BASE_USDC,
    from,
    to: PAY_TO,
    value: 5n * UNITS_PER_USD,
    validAfter: 0n,
    validBefore: (await fixture.harness.time()) + 300n,
    nonce: randomHex(32),
    signature: randomHex(65),
  } as const;
  return { authorization, header: headerOf(authorization) };
}

async function goOn(): Promise<void> {
  await fixture.times.pass(1);
  await fixture.service.goOn();
  await fixture.harness.mine(1);
}

describe('a contract wallet', () => {
  it('can pay within the gas limit', async () => {
    const { header, authorization } = await offeredBy(counting(5_000));
    expect(await fixture.service.payments.topUp(header)).toMatchObject({ state: 'open' });
    await goOn();
    await goOn();
    expect(await fixture.times.payment(authorization)).toMatchObject({ state: 'CREDITED' });
  });

  it('that burns too much gas is rejected, and costs no gas', async () => {
    const before = await fixture.transactionCount();
    const { header, authorization } = await offeredBy(counting(65_536));
    await expect(fixture.service.payments.topUp(header)).rejects.toMatchObject({
      code: 'PAYMENT_VERIFICATION_FAILED',
    });
    await goOn();
    expect(await fixture.times.payment(authorization)).toBeUndefined();
    expect(await fixture.transactionCount()).toBe(before);
  });

  it('that rejects in every block costs two transactions, and its payment fails when it has expired', async () => {
    const before = await fixture.transactionCount();
    const { header, authorization } = await offeredBy(TWO_FACED);
    expect(await fixture.service.payments.topUp(header)).toMatchObject({ state: 'open' });
    for (let turn = 0; turn < 6; turn += 1) await goOn();
    expect(await fixture.transactionCount()).toBe(before + 2);
    expect(await fixture.times.payment(authorization)).toMatchObject({ state: 'BROADCAST' });
    await fixture.harness.mine(40);
    await goOn();
    expect(await fixture.times.payment(authorization)).toMatchObject({
      state: 'FAILED',
      reason: 'the authorization has expired',
    });
    expect(await fixture.transactionCount()).toBe(before + 2);
    expect(await fixture.service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

describe('a payment that stays valid for long', () => {
  it('is rejected, and leaves nothing; an hour by a clock that is a little ahead is accepted', async () => {
    const [from = '0x'] = await fixture.harness.payers();
    const { signature: _signature, ...unsigned } = (await offerOf(fixture.harness, from, 5)).authorization;
    const now = await fixture.harness.time();
    const long = await fixture.harness.sign({ ...unsigned, validBefore: now + 3_700n });
    await expect(fixture.service.payments.topUp(headerOf(long))).rejects.toMatchObject({
      code: 'PAYMENT_VERIFICATION_FAILED',
      message: expect.stringContaining('validBefore'),
    });
    expect(await fixture.times.payment(long)).toBeUndefined();
    const short = await fixture.harness.sign({ ...unsigned, validBefore: now + 3_640n });
    expect(await fixture.service.payments.topUp(headerOf(short))).toMatchObject({ state: 'open' });
  });
});

describe('a payment that is valid from now on', () => {
  it('is not refused for ever: it waits for the next blocks, or is to be sent again', async () => {
    const [from = '0x'] = await fixture.harness.payers();
    const { signature: _signature, ...unsigned } = (await offerOf(fixture.harness, from, 5)).authorization;
    const now = await fixture.harness.time();
    const soon = headerOf(await fixture.harness.sign({ ...unsigned, validAfter: now }));
    await expect(fixture.service.payments.topUp(soon)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryAfterSeconds: expect.any(Number),
    });
    await fixture.harness.mine(1);
    expect(await fixture.service.payments.topUp(soon)).toMatchObject({ state: 'open' });

    const nonce = randomHex(32);
    const next = await fixture.harness.sign({ ...unsigned, nonce, validAfter: await fixture.harness.time() });
    const [outcome] = await Promise.all([
      fixture.service.payments.topUp(headerOf(next)),
      sleep(1_000).then(() => fixture.harness.mine(1)),
    ]);
    expect(outcome).toMatchObject({ state: 'open' });
  });

  it('is refused if it becomes valid later than a clock may be ahead', async () => {
    const [from = '0x'] = await fixture.harness.payers();
    const { signature: _signature, ...unsigned } = (await offerOf(fixture.harness, from, 5)).authorization;
    const validAfter = (await fixture.harness.time()) + 100_000n;
    const later = await fixture.harness.sign({ ...unsigned, validAfter, validBefore: validAfter + 100n });
    await expect(fixture.service.payments.topUp(headerOf(later))).rejects.toMatchObject({
      code: 'PAYMENT_VERIFICATION_FAILED',
    });
  });
});

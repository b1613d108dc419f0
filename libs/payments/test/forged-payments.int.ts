import { BASE_USDC } from '@svc/contracts/money';
import { concatHex, keccak256, numberToHex, pad } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Authorization } from '../src/header/payment-header.js';
import { headerOf, offerOf } from './offers.js';
import { type PaymentFixture, startPaymentFixture } from './payment-fixture.js';
import { PAY_TO } from './test-chain.js';
import { randomHex } from './simulated-chain.js';

/** The storage slot of the token's map of spent authorizations. Source: `test-usdc.sol`. */
const SPENT_SLOT = 3n;

let fixture: PaymentFixture;

beforeAll(async () => {
  fixture = await startPaymentFixture(2);
});
afterAll(() => fixture?.stop());

/** An authorization signed by a payer for `to`, and used by a third party. */
async function used(
  how: 'settle' | 'cancel',
  to: Authorization['to'],
  blocks: number,
): Promise<Authorization> {
  const [from = '0x'] = await fixture.harness.payers();
  const { signature: _signature, ...unsigned } = (await offerOf(fixture.harness, from, 5)).authorization;
  const authorization = await fixture.harness.sign({ ...unsigned, to });
  await fixture.harness.use(authorization, how);
  await fixture.harness.mine(blocks);
  return authorization;
}

/** Claims, without a valid signature, that the authorization pays us. */
const forged = (authorization: Authorization): Authorization => ({
  ...authorization,
  to: PAY_TO,
  signature: randomHex(65),
});

describe('an authorization that was spent before its payment came', () => {
  it.each([
    ['that paid someone else', 'settle', 3],
    ['that was canceled', 'cancel', 3],
  ] as const)('%s is rejected, and leaves nothing', async (_what, how, blocks) => {
    const payment = forged(await used(how, randomHex(20), blocks));
    await expect(fixture.service.payments.topUp(headerOf(payment))).rejects.toMatchObject({
      code: 'PAYMENT_VERIFICATION_FAILED',
    });
    expect(await fixture.times.payment(payment)).toBeUndefined();
  });

  it('that is too old for any node to show its use is rejected, and leaves nothing', async () => {
    const [from = '0x'] = await fixture.harness.payers();
    const { authorization } = await offerOf(fixture.harness, from, 5);
    const ofPayer = keccak256(concatHex([pad(from), numberToHex(SPENT_SLOT, { size: 32 })]));
    const slot = keccak256(concatHex([authorization.nonce, ofPayer]));
    await fixture.harness.chain.call('anvil_setStorageAt', [BASE_USDC, slot, numberToHex(1n, { size: 32 })]);
    await fixture.harness.mine(70);
    const payment = forged(authorization);
    await expect(fixture.service.payments.topUp(headerOf(payment))).rejects.toMatchObject({
      code: 'PAYMENT_VERIFICATION_FAILED',
    });
    expect(await fixture.times.payment(payment)).toBeUndefined();
  });

  it('that paid us is credited, once it has enough confirmations', async () => {
    const payment = await used('settle', PAY_TO, 1);
    expect(await fixture.service.payments.topUp(headerOf(payment))).toMatchObject({ state: 'open' });
    await fixture.harness.mine(1);
    await fixture.times.pass(1);
    await fixture.service.goOn();
    expect(await fixture.service.payments.topUp(headerOf(payment))).toMatchObject({
      state: 'credited',
      usdNano: 5_000_000_000n,
    });
  });

  it('is found by its row if it was stored before', async () => {
    const [from = '0x'] = await fixture.harness.payers();
    const { authorization, header } = await offerOf(fixture.harness, from, 5);
    expect(await fixture.service.payments.topUp(header)).toMatchObject({ state: 'open' });
    await fixture.harness.mine(3);
    await fixture.times.pass(1);
    expect(await fixture.service.payments.topUp(header)).toMatchObject({ state: 'credited' });
    expect(await fixture.times.payment(authorization)).toMatchObject({ state: 'CREDITED' });
    expect(await fixture.service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

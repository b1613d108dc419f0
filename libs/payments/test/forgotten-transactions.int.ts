import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedOffer, offerOf } from './offers.js';
import { type PaymentFixture, startPaymentFixture } from './payment-fixture.js';

let fixture: PaymentFixture;

beforeAll(async () => {
  fixture = await startPaymentFixture();
});
afterAll(() => fixture?.stop());

const stateOf = async ({ authorization }: SignedOffer): Promise<string | undefined> =>
  (await fixture.times.payment(authorization))?.state;

/** Advances the time by minutes, and the service with it. */
async function goOn(minutes: number): Promise<void> {
  await fixture.times.pass(minutes);
  await fixture.service.goOn();
  await fixture.harness.mine(1);
  await fixture.times.pass(0);
  await fixture.service.goOn();
}

/** Pending payments, sent one after another. */
async function sent(count: number): Promise<SignedOffer[]> {
  const payers = await fixture.harness.payers();
  const offers: SignedOffer[] = [];
  for (const from of payers.slice(0, count)) {
    const offered = await offerOf(fixture.harness, from, 5);
    expect(await fixture.service.payments.topUp(offered.header)).toMatchObject({ state: 'open' });
    offers.push(offered);
  }
  return offers;
}

describe('a transaction of our own that the node forgot', () => {
  it('is sent again automatically', async () => {
    const [one] = await sent(1);
    await fixture.harness.clear();
    await goOn(0);
    expect(one && (await stateOf(one))).toBe('CREDITED');
  });

  it('leaves its nonce to the waiting ones if its payment was settled otherwise, without a further transaction', async () => {
    const [settled, second, third] = await sent(3);
    if (!settled || !second || !third) throw new Error('three are sent');
    const before = await fixture.transactionCount();
    const { transaction } = (await fixture.times.payment(settled.authorization)) ?? {};
    await fixture.harness.chain.call('anvil_dropTransaction', [transaction]);
    await fixture.harness.use(settled.authorization, 'settle');
    await fixture.harness.mine(1);
    await goOn(0);
    expect(await stateOf(settled)).toBe('CREDITED');
    expect([await stateOf(second), await stateOf(third)]).toEqual(['BROADCAST', 'BROADCAST']);
    expect(await fixture.transactionCount()).toBe(before);
    await goOn(1);
    await goOn(1);
    expect([await stateOf(second), await stateOf(third)]).toEqual(['CREDITED', 'CREDITED']);
    expect(await fixture.service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedOffer, offerOf } from './offers.js';
import { type PaymentFixture, startPaymentFixture } from './payment-fixture.js';

/** More than the connections of a pool. */
const AT_ONCE = 12;

let fixture: PaymentFixture;

beforeAll(async () => {
  fixture = await startPaymentFixture();
});
afterAll(() => fixture?.stop());

const statesOf = (offers: readonly SignedOffer[]): Promise<(string | undefined)[]> =>
  Promise.all(offers.map(async ({ authorization }) => (await fixture.times.payment(authorization))?.state));

describe('more parallel payments than a pool has connections', () => {
  it('are all sent at the first attempt, one after another, and credited', async () => {
    const payers = await fixture.harness.payers();
    const offers: SignedOffer[] = [];
    while (offers.length < AT_ONCE)
      offers.push(await offerOf(fixture.harness, payers[offers.length % payers.length] ?? '0x', 5));
    const outcomes = await Promise.allSettled(
      offers.map(({ header }) => fixture.service.payments.topUp(header)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(offers.map(() => 'fulfilled'));
    expect(await statesOf(offers)).toEqual(offers.map(() => 'BROADCAST'));
    await fixture.harness.mine(1);
    await fixture.times.pass(0);
    await fixture.service.goOn();
    expect(await statesOf(offers)).toEqual(offers.map(() => 'CREDITED'));
    expect(await fixture.service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

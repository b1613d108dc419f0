import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedOffer, offerOf } from './offers.js';
import { type PaymentFixture, startPaymentFixture } from './payment-fixture.js';
import { PaymentProcess, testRail } from './payment-process.js';

let fixture: PaymentFixture;

beforeAll(async () => {
  fixture = await startPaymentFixture();
});
afterAll(() => fixture?.stop());

/** A process with a new signer key. Its account has sent this number of transactions before. */
async function afterRotation(sentBefore: number): Promise<PaymentProcess> {
  const { harness, ledger } = fixture;
  const signer = privateKeyToAccount(generatePrivateKey());
  await harness.chain.fund(signer.address);
  await harness.chain.call('anvil_setNonce', [signer.address, `0x${sentBefore.toString(16)}`]);
  const node = harness.node.bind(harness);
  return new PaymentProcess({
    database: ledger.database,
    books: ledger.books,
    areBooksThere: () => true,
    railOf: testRail(
      { node, signer, facilitator: harness.facilitator },
      { submits: 'signer', confirmations: 1 },
    ),
  });
}

const stateOf = async ({ authorization }: SignedOffer): Promise<string | undefined> =>
  (await fixture.times.payment(authorization))?.state;

async function goOn(service: PaymentProcess, minutes: number): Promise<void> {
  await fixture.times.pass(minutes);
  await service.goOn();
}

/** Payments that the old signer has sent and no block contains. */
async function sent(count: number): Promise<SignedOffer[]> {
  const payers = await fixture.harness.payers();
  const offers: SignedOffer[] = [];
  for (const from of payers.slice(0, count)) {
    const offered = await offerOf(fixture.harness, from, 5);
    expect(await fixture.service.payments.topUp(offered.header)).toMatchObject({ state: 'open' });
    expect(await stateOf(offered)).toBe('BROADCAST');
    offers.push(offered);
  }
  return offers;
}

describe('during rotation of the signer key on Base', { timeout: 120_000 }, () => {
  it('credits a transaction of the old signer that is mined after the change, without sending a second one', async () => {
    const before = await fixture.transactionCount();
    const [offered] = await sent(1);
    const rotated = await afterRotation(0);
    await goOn(rotated, 0);
    await fixture.harness.mine(1);
    await goOn(rotated, 0);
    expect(offered && (await stateOf(offered))).toBe('CREDITED');
    expect(await fixture.transactionCount()).toBe(before + 1);
  });

  it('submits the stuck payments of the old signer with the new one, beside its own, each once', async () => {
    const nonce = await fixture.transactionCount();
    const stuck = await sent(2);
    // The old account runs dry, so no node takes its transactions again.
    await fixture.harness.clear();
    await fixture.harness.chain.call('anvil_setBalance', [fixture.harness.signer.address, '0x0']);
    // The nonces of both accounts overlap, so that one could be taken for the other.
    const rotated = await afterRotation(nonce);
    const [from] = await fixture.harness.payers();
    const own = await offerOf(fixture.harness, from ?? '0x', 5);
    expect(await rotated.payments.topUp(own.header)).toMatchObject({ state: 'open' });
    await goOn(rotated, 1);
    await fixture.harness.mine(1);
    await goOn(rotated, 0);
    const states = await Promise.all([own, ...stuck].map(stateOf));
    expect(states).toEqual(['CREDITED', 'CREDITED', 'CREDITED']);
    expect(await rotated.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { offerOf } from './offers.js';
import { type PaymentFixture, startPaymentFixture } from './payment-fixture.js';

let fixture: PaymentFixture;

beforeAll(async () => {
  fixture = await startPaymentFixture();
});
afterAll(() => fixture?.stop());

/** A payment that has arrived, but was not advanced since. */
async function arrived(): Promise<string> {
  const [from = '0x'] = await fixture.harness.payers();
  const { authorization, header } = await offerOf(fixture.harness, from, 5);
  await fixture.service.payments.topUp(header);
  await fixture.harness.mine(1);
  const payment = await fixture.times.payment(authorization);
  return payment?.id ?? '';
}

describe('the audit of a payment that has arrived but is not credited', () => {
  it('is ok while the payment is pending, and reports it 15 minutes after it was sent', async () => {
    const id = await arrived();
    expect(await fixture.service.payments.audit('whole')).toMatchObject({ ok: true });
    await fixture.ledger.database.query(
      `UPDATE payments.payments SET created_at = now() - interval '16 minutes',
         broadcast_at = now() - interval '16 minutes' WHERE id = $1`,
      [id],
    );
    expect(await fixture.service.payments.audit('whole')).toMatchObject({
      ok: false,
      mismatches: [expect.stringMatching(`^Payment ${id} is BROADCAST and not credited`)],
    });
    await fixture.service.payments.retry(id);
    expect(await fixture.service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });

  it('reports one that has FAILED, until it is retried', async () => {
    const id = await arrived();
    await fixture.ledger.database.query(`UPDATE payments.payments SET state = 'FAILED' WHERE id = $1`, [id]);
    expect(await fixture.service.payments.audit('whole')).toMatchObject({
      ok: false,
      mismatches: [expect.stringMatching(`^Payment ${id} is FAILED and not credited`)],
    });
    expect(await fixture.service.payments.retry(id)).toMatchObject({ state: 'CREDITED' });
    expect(await fixture.service.payments.audit('whole')).toMatchObject({ ok: true, mismatches: [] });
  });
});

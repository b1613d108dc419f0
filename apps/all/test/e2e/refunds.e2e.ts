import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cost } from '../answers.js';
import { type OperatorAnswer, Platform, type TestAccount } from '../platform.js';

const NOBODY = '11111111-1111-4111-8111-111111111111';

let platform: Platform;

beforeAll(async () => {
  platform = await Platform.start();
});

afterAll(() => platform.stop());

interface Charged extends TestAccount {
  readonly requestId: string;
  readonly cost: Cost;
}

/** An account that has asked once. */
async function charged(): Promise<Charged> {
  const account = await platform.account('5.00');
  const answer = await account.openai.chat.completions.create({
    model: 'test-model',
    messages: [{ role: 'user', content: 'hi' }],
  });
  return { ...account, requestId: answer.id, cost: (answer as unknown as { cost: Cost }).cost };
}

const refund = (id: string, body: unknown): Promise<OperatorAnswer> =>
  platform.operator('POST', `/accounts/${id}/refunds`, body);

describe('201', () => {
  it('gives back exactly the cost that the client saw, as soon as it has its answer', async () => {
    const { id, requestId, cost } = await charged();
    const { status, body } = await refund(id, { requestId, reference: 'sorry' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      object: 'list',
      data: [
        {
          kind: 'refund',
          debitAccount: 'revenue',
          creditAccount: `customer:${id}`,
          currency: 'USD',
          reference: 'sorry',
        },
      ],
    });
    const [transfer] = body['data'] as { amount: string }[];
    expect(Number(transfer?.amount)).toBe(cost.usd);
    expect(await platform.balances(id)).toMatchObject({ usd: '5.00' });
  });

  it('is the same answer for the same reference, request and amount', async () => {
    const { id, requestId } = await charged();
    const part = { requestId, reference: 'part', usd: '0.000000001' };
    const first = await refund(id, part);
    expect(await refund(id, part)).toEqual(first);
    const rest = await refund(id, { requestId, reference: 'rest' });
    expect(await refund(id, { requestId, reference: 'rest' })).toEqual(rest);
    expect(await platform.balances(id)).toMatchObject({ usd: '5.00' });
  });
});

describe('400', () => {
  it.each([
    ['requestId', { requestId: '' }],
    ['reference', { reference: ' ' }],
    ['usd', { usd: '0' }],
    ['usd', { usd: '-1' }],
    ['usd', { usd: 1 }],
    ['diem', { diem: '0.0000000001' }],
    ['', { amount: '1' }],
  ])('names the field %s in %j', async (field, fault) => {
    const { id } = await platform.account('0');
    const { status, body } = await refund(id, { requestId: 'chatcmpl-1', reference: 'r', ...fault });
    expect([status, body['code']]).toEqual([400, 'INVALID_REQUEST']);
    expect((body['error'] as { param: string | null }).param ?? '').toBe(field);
  });
});

describe('404', () => {
  it('is for an account that does not exist', async () => {
    const { status, body } = await refund(NOBODY, { requestId: 'chatcmpl-1', reference: 'r' });
    expect([status, body['code']]).toEqual([404, 'ACCOUNT_NOT_FOUND']);
  });

  it('is for a request that the account was not charged for', async () => {
    const { requestId } = await charged();
    const { id } = await platform.account('0');
    const { status, body } = await refund(id, { requestId, reference: 'r' });
    expect([status, body['code']]).toEqual([404, 'CHARGE_NOT_FOUND']);
    expect(body['error']).toMatchObject({ param: 'requestId' });
  });
});

describe('409', () => {
  it.each([
    ['usd', { usd: '5.00' }],
    ['diem', { diem: '0.000000001' }],
  ])('is for more %s than was paid', async (field, amount) => {
    const { id, requestId } = await charged();
    const { status, body } = await refund(id, { requestId, reference: 'r', ...amount });
    expect([status, body['code']]).toEqual([409, 'REFUND_TOO_LARGE']);
    expect(body['error']).toMatchObject({ param: field });
  });

  it('is for a charge that was given back already', async () => {
    const { id, requestId } = await charged();
    await refund(id, { requestId, reference: '1' });
    const { status, body } = await refund(id, { requestId, reference: '2' });
    expect([status, body['code']]).toEqual([409, 'REFUND_TOO_LARGE']);
    expect(await platform.balances(id)).toMatchObject({ usd: '5.00' });
  });

  it('is for a reference that was used for another amount', async () => {
    const { id, requestId } = await charged();
    await refund(id, { requestId, reference: 'r', usd: '0.000000001' });
    const { status, body } = await refund(id, { requestId, reference: 'r', usd: '0.000000002' });
    expect([status, body['code']]).toEqual([409, 'REFERENCE_REUSED']);
    expect(body['error']).toMatchObject({ param: 'reference' });
  });
});

import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';
import { Label, PositiveUsd, TransferView } from './operator.js';

export const NewDebit = z.strictObject({
  usd: PositiveUsd,
  reason: Label.describe('Kept with the operator action.').meta({ example: 'Credit of invoice 17 too high' }),
  /** The operator's own name for this debit. The same reference debits an account once. */
  reference: Label.meta({ example: 'correction-17' }),
});

export const NewCreditReversal = z.strictObject({
  reference: Label.describe('The reference of the credit.').meta({ example: 'invoice-17' }),
  reason: Label.describe('Kept with the operator action.').meta({ example: 'Typed 5000 instead of 50' }),
});

export type NewDebit = z.infer<typeof NewDebit>;
export type NewCreditReversal = z.infer<typeof NewCreditReversal>;

const params = z.object({ id: z.uuid() });

export const debitRoutes = {
  debitAccount: {
    method: 'POST',
    path: '/operator/v1/accounts/:id/debits',
    operationId: 'debitAccount',
    tag: 'Accounts',
    summary: 'Takes USD from an account, once for each reference',
    description: `Takes at most the balance, less what requests in progress hold: otherwise 409 \`DEBIT_TOO_LARGE\`, which says how
much is left. Repeating a reference with the same amount returns the same transfer.`,
    access: 'operator',
    scope: 'money',
    status: 201,
    params,
    body: NewDebit,
    reply: TransferView,
    refusals: ['INVALID_REQUEST', 'ACCOUNT_NOT_FOUND', 'DEBIT_TOO_LARGE', 'REFERENCE_REUSED'],
  },
  reverseCredit: {
    method: 'POST',
    path: '/operator/v1/accounts/:id/credit_reversals',
    operationId: 'reverseCredit',
    tag: 'Accounts',
    summary: 'Reverses the credit with a reference, once',
    description: `Takes the whole credit back. What the account has spent of it becomes a debt, which its next credits and deposits
repay first. So a credit of 5000 that should have been 50 is corrected by its reversal and a credit of 50 with another reference.
Repeating it returns the same transfer. Deposits of wallets are not credits: they are reversed with their payments.`,
    access: 'operator',
    scope: 'money',
    status: 201,
    params,
    body: NewCreditReversal,
    reply: TransferView,
    refusals: ['INVALID_REQUEST', 'ACCOUNT_NOT_FOUND', 'CREDIT_NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDefinition>;

import { expect, it } from 'vitest';
import { entryView, monthCsv, statementCsv } from './statement-view.js';

const entry = entryView({
  entry: 'charge',
  detail: 'own/model,1',
  currency: 'USD',
  amountNano: 1_500_000_001n,
  changeNano: -1_500_000_001n,
});

it('shows amounts exactly, and their effect on balances with its sign', () => {
  expect(entry).toMatchObject({ amount: '1.500000001', balanceChange: '-1.500000001' });
});

it('writes a month as CSV', () => {
  const month = { object: 'ledger_month', month: '2026-11', isComplete: true } as const;
  expect(monthCsv({ ...month, entries: [entry] })).toBe(
    'month,entry,detail,currency,amount,balanceChange\n2026-11,charge,"own/model,1",USD,1.500000001,-1.500000001\n',
  );
});

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])(
  'writes the reference %j as a text that a spreadsheet does not run',
  (reference) => {
    const entries = [{ ...entry, detail: '', at: '2026-11-21T00:00:00.000Z', reference }];
    const statement = { object: 'statement', accountId: 'a', month: '2026-11', isComplete: true } as const;
    expect(statementCsv({ ...statement, entries })).toContain(`'${reference}`);
  },
);

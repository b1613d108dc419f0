const ID = `payment_${'1a'.repeat(16)}`;
const TRANSACTION = `0x${'5f'.repeat(32)}`;
const only = (summary: string, value: unknown) => ({ only: { summary, value } });

const payment = {
  id: ID,
  state: 'CREDITED',
  rail: 'base',
  wallet: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  accountId: '3f0a8c1e-2d4b-8e6f-9a7b-1c2d3e4f5a6b',
  payTo: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  usd: '25.00',
  transaction: TRANSACTION,
  attempts: 2,
  reversals: 0,
  ageSeconds: 340,
  reason: null,
  lastError: null,
  resolution: null,
  createdAt: '2026-11-21T10:15:00.000Z',
  updatedAt: '2026-11-21T10:15:04.120Z',
};

/** Examples of the operator's payment routes. */
export const PAYMENT_EXAMPLES = {
  listPayments: { reply: only('One payment', { object: 'list', data: [payment], nextBefore: null }) },
  totalPayments: {
    reply: only('One rail', {
      object: 'list',
      data: [{ rail: 'base', state: 'CREDITED', payments: 12, usd: '310.00', oldestSeconds: 86_400 }],
    }),
  },
  auditPayments: {
    reply: only('Payments that are right', {
      ok: true,
      scope: 'new',
      rails: [
        {
          rail: 'base',
          fromBlock: '38000000',
          toBlock: '38001350',
          payments: 12,
          transfers: 12,
          creditedUsd: '310.00',
          onChainUsd: '310.00',
          booksUsd: '310.00',
          unclaimed: 0,
          unclaimedUsd: '0.00',
        },
      ],
      mismatches: [],
      unclaimed: [],
    }),
  },
  getPayment: { reply: only('A payment', payment) },
  retryPayment: { reply: only('The payment', payment) },
  resolvePayment: {
    request: only('It was paid, and nobody knew where', {
      decision: 'credit',
      transaction: TRANSACTION,
      reason: 'found in the explorer',
    }),
    reply: only('The payment', {
      ...payment,
      resolution: { decision: 'credit', reason: 'found in the explorer' },
    }),
  },
};

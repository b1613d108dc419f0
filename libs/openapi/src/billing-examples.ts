const only = (summary: string, value: unknown) => ({ only: { summary, value } });

const entry = {
  timestamp: '2026-11-21T10:15:00.000Z',
  sku: 'llama-3.2-3b-llm-output-mtoken',
  units: 0.000009,
  pricePerUnitUsd: 0.6,
  amount: -0.0000054,
  currency: 'USD',
  notes: 'API Inference',
  inferenceDetails: {
    requestId: 'chatcmpl-0199f3a1c2d37b8e',
    promptTokens: 12,
    completionTokens: 9,
    inferenceExecutionTime: 412,
  },
};
const totals = { totalUsd: 0.0000072, totalDiem: 0, totalUnits: 0.000021 };

const CSV = `timestamp,sku,pricePerUnitUsd,units,amount,currency,notes,inferenceDetails.requestId,inferenceDetails.inferenceExecutionTime,inferenceDetails.promptTokens,inferenceDetails.completionTokens
2026-11-21T10:15:00.000Z,llama-3.2-3b-llm-output-mtoken,0.60,0.000009,-0.0000054,USD,API Inference,chatcmpl-0199f3a1c2d37b8e,412,12,9
`;

/** Examples of the billing routes. */
export const BILLING_EXAMPLES = {
  getBillingBalance: {
    reply: only('An account with a stake', {
      canConsume: true,
      consumptionCurrency: 'DIEM',
      balances: { diem: 4.23, usd: 9.9999928 },
      diemEpochAllocation: 5,
    }),
  },
  listBillingUsage: {
    reply: only('One entry', {
      data: [entry],
      pagination: { limit: 200, page: 1, total: 1, totalPages: 1 },
    }),
    csv: CSV,
  },
  listBillingUsageHistory: { reply: only('One entry', { data: [entry], nextCursor: null }), csv: CSV },
  getBillingUsers: {
    reply: only('One end user', {
      lookback: '7d',
      data: [
        {
          endUser: 'eu_3q2-7wvTQmWk0Jc1bXyZ9A',
          requests: 214,
          promptTokens: 61_200,
          completionTokens: 40_100,
          usd: 0.0332,
          diem: 0,
        },
      ],
    }),
  },
  getBillingUsageAnalytics: {
    reply: only('One day', {
      lookback: '1d',
      byDate: [{ date: '2026-11-21', USD: 0.0000072, DIEM: 0 }],
      byModel: [
        {
          modelName: 'llama-3.2-3b',
          unitType: 'mtoken',
          modelType: 'text',
          ...totals,
          breakdown: [
            { type: 'Input', usd: 0.0000018, diem: 0, units: 0.000012 },
            { type: 'Output', usd: 0.0000054, diem: 0, units: 0.000009 },
          ],
        },
      ],
      byModelDaily: [{ date: 1_795_219_200_000, 'llama-3.2-3b': 0.0000072 }],
      topModels: ['llama-3.2-3b'],
      byKey: [{ apiKeyId: '1b1f4c3e-3a9f-4e0c-8c7f-6f0e2f1d9a55', description: 'website', ...totals }],
      byKeyDaily: [{ date: 1_795_219_200_000, website: 0.0000072 }],
      topKeyNames: ['website'],
    }),
  },
};

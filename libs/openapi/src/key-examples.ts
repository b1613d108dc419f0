const KEY_ID = '1b1f4c3e-3a9f-4e0c-8c7f-6f0e2f1d9a55';
const only = (summary: string, value: unknown) => ({ only: { summary, value } });

const key = {
  id: KEY_ID,
  apiKeyType: 'INFERENCE',
  description: 'website',
  createdAt: '2026-11-21T10:15:00.000Z',
  expiresAt: null,
  lastUsedAt: '2026-11-21T10:20:31.417Z',
  last6Chars: 'x7Qa2b',
  consumptionLimits: { usd: 25, diem: null, vcu: null },
  limitPeriod: 'MONTH',
  modelPrivacy: 'ALL',
};
const keyWithUsage = {
  ...key,
  usage: { trailingSevenDays: { usd: '1.2034', vcu: '0.0000', diem: '0.0000' } },
  currentPeriodUsage: { usd: '3.0410', diem: '0.0000' },
};
const limits = {
  concurrentRequests: 50,
  models: [{ model: '*', requestsPerMinute: 1000, tokensPerMinute: 5_000_000 }],
};

const END_USER = 'eu_3q2-7wvTQmWk0Jc1bXyZ9A';
const userLimits = only('An end user that has limits', {
  success: true,
  data: {
    endUser: END_USER,
    consumptionLimit: { usd: 2, diem: null, vcu: null },
    limitPeriod: 'MONTH',
    requestsPerMinute: 20,
  },
});

/** Examples of the routes of keys and end users. */
export const KEY_EXAMPLES = {
  getEndUserLimits: { reply: userLimits },
  setEndUserLimits: {
    request: only('Money for a month, and requests', {
      consumptionLimit: { usd: 2 },
      limitPeriod: 'MONTH',
      requestsPerMinute: 20,
    }),
    reply: userLimits,
  },
  removeEndUserLimits: { reply: only('No limits of its own', { success: true, data: null }) },
  forgetEndUser: {
    reply: only('Its requests', { success: true, data: { endUser: END_USER, requests: 214 } }),
  },
  listApiKeys: { reply: only('One key', { object: 'list', data: [keyWithUsage] }) },
  createApiKey: {
    request: only('A key with a limit', {
      apiKeyType: 'INFERENCE',
      description: 'website',
      consumptionLimit: { usd: 25 },
      limitPeriod: 'MONTH',
    }),
    reply: only('The key', {
      success: true,
      data: {
        id: KEY_ID,
        apiKey: 'SVC_INFERENCE_KEY_…',
        apiKeyType: 'INFERENCE',
        description: 'website',
        expiresAt: null,
        consumptionLimit: { usd: 25, diem: null, vcu: null },
        limitPeriod: 'MONTH',
        modelPrivacy: 'ALL',
      },
    }),
  },
  walletKeyToken: {
    reply: only('A token', { success: true, data: { token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.…' } }),
  },
  createWalletKey: {
    request: only('A key with a limit by day', {
      apiKeyType: 'INFERENCE',
      address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.…',
      signature: '0x…',
      consumptionLimit: { usd: 5 },
    }),
    reply: only('The key', {
      success: true,
      data: {
        id: KEY_ID,
        apiKey: 'SVC_INFERENCE_KEY_…',
        apiKeyType: 'INFERENCE',
        description: 'Web3 API Key',
        expiresAt: null,
        consumptionLimit: { usd: 5, diem: null, vcu: null },
        limitPeriod: 'EPOCH',
        modelPrivacy: 'ALL',
      },
    }),
  },
  changeApiKey: {
    request: only('Another limit', { id: KEY_ID, consumptionLimit: { usd: 50 } }),
    reply: only('The key', {
      success: true,
      data: { ...key, consumptionLimits: { ...key.consumptionLimits, usd: 50 } },
    }),
  },
  revokeApiKey: { reply: only('Revoked', { success: true }) },
  getApiKey: { reply: only('A key', { data: keyWithUsage }) },
  getAccountLimits: { reply: only('More than the tier has', limits) },
  setAccountLimits: { request: only('More than the tier has', limits), reply: only('The limits', limits) },
};

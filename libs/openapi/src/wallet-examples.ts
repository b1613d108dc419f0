const CHALLENGE = {
  domain: '127.0.0.1:3000',
  uri: 'http://127.0.0.1:3000/api/v1/chat/completions',
  version: '1',
  nonce: '52f79fa2a24c9334c17ec2211841e4f1',
  issuedAt: '2026-11-21T10:15:00.000Z',
  expirationTime: '2026-11-21T10:20:00.000Z',
  statement: 'Sign in to Svc AI',
};

const SIGN_IN = {
  info: { ...CHALLENGE, resources: ['http://127.0.0.1:3000/api/v1/chat/completions'] },
  supportedChains: [
    { chainId: 'eip155:8453', type: 'eip191' },
    { chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', type: 'ed25519' },
  ],
  schema: { type: 'object' },
};

/** Examples of a 402 on a route that wallets may use. */
export const WALLET_EXAMPLES = {
  reply: {
    NO_CREDENTIALS: {
      summary: 'Without any credentials',
      value: {
        x402Version: 2,
        error: 'Payment required',
        resource: {
          url: 'http://127.0.0.1:3000/api/v1/chat/completions',
          description: 'Creates a chat completion',
          mimeType: 'application/json',
        },
        accepts: [],
        extensions: { 'sign-in-with-x': SIGN_IN },
        authOptions: {
          apiKey: {
            header: 'Authorization: Bearer <API_KEY>',
            getKey: 'http://127.0.0.1:3000/docs',
            docs: 'http://127.0.0.1:3000/docs',
          },
          x402Wallet: {
            header: 'SIGN-IN-WITH-X',
            legacyHeader: 'X-Sign-In-With-X',
            topUp: 'POST http://127.0.0.1:3000/api/v1/x402/top-up',
            docs: 'http://127.0.0.1:3000/docs',
          },
        },
      },
    },
    PAYMENT_REQUIRED: {
      summary: 'A wallet with too little credit',
      value: {
        error: 'Payment required',
        code: 'PAYMENT_REQUIRED',
        reason: 'insufficient_balance',
        message: 'This wallet has too little credit. Top up, then retry with a new sign-in.',
        currentBalanceUsd: 0.02,
        minimumBalanceUsd: 0.1,
        suggestedTopUpUsd: 10,
        minimumTopUpUsd: 5,
        supportedTokens: ['USDC'],
        supportedChains: ['base'],
        topUpInstructions: {
          step1:
            'POST http://127.0.0.1:3000/api/v1/x402/top-up without a payment header, and choose one of `accepts`.',
          step2: 'Sign a payment of 5 USDC or more to it with your wallet.',
          step3:
            'POST http://127.0.0.1:3000/api/v1/x402/top-up again with the payment in the header PAYMENT-SIGNATURE.',
          receiverWallet: '0x2670B922ef37C7Df47158725C0CC407b5382293F',
          tokenAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          tokenDecimals: 6,
          network: 'eip155:8453',
          minimumAmountUsd: 5,
        },
        siwxChallenge: { info: CHALLENGE, supportedChains: SIGN_IN.supportedChains },
      },
    },
  },
};

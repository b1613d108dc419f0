import { BASE_NETWORK, BASE_USDC, USDC_EXTRA } from '@svc/contracts';
import type { BaseChain } from '../chains/base-chain.js';
import { type Authorization, readAuthorization } from '../header/payment-header.js';
import type { Rail, Submission } from './rail.js';

interface BaseRailParts {
  readonly payTo: string;
  readonly chain: BaseChain;
  readonly submission: Submission;
}

/** USDC on Base. */
export function baseRail({ payTo, chain, submission }: BaseRailParts): Rail {
  return {
    name: 'base',
    network: BASE_NETWORK,
    payTo,
    chain,
    submission,
    offer: () => Promise.resolve({ network: BASE_NETWORK, asset: BASE_USDC, payTo, extra: USDC_EXTRA }),
    read: (content): Promise<Authorization> =>
      new Promise((resolve) => {
        resolve(readAuthorization(content, payTo));
      }),
  };
}

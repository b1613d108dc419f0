import { BASE_USDC, USDC_EXTRA } from '@svc/contracts/money';
import { type EvmRailTerms, evmRail } from './evm-rail.js';

export const BASE: EvmRailTerms = {
  name: 'base',
  title: 'Base',
  chainId: 8_453,
  asset: BASE_USDC,
  extra: USDC_EXTRA,
  prefix: 'X402_EVM',
  hasContractWallets: true,
};

/** USDC on Base. */
export const base = evmRail(BASE);

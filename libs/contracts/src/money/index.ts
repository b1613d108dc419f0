export {
  type Balances,
  type Currency,
  formatUsd,
  minus,
  NANO_PER_USD,
  NO_MONEY,
  numberToNano,
  parseUsd,
  plus,
  pricedNano,
  totalNano,
  usdNumber,
  usdToNano,
} from './money.js';
export { RailName } from './rail-name.js';
export {
  SERVICE_TIERS,
  type ServiceTier,
  type TokenKind,
  tierOfSku,
  tokenSku,
  tokenKindOf,
  tokenSkus,
  unitOf,
  unitView,
} from './units.js';
export {
  BASE_NETWORK,
  BASE_USDC,
  SOLANA_NETWORK,
  SOLANA_USDC,
  TOP_UP_LEAST_USD,
  TOP_UP_MOST_USD,
  USDC_DECIMALS,
  USDC_EXTRA,
  WALLET_FLOOR_NANO,
} from './usdc.js';

export { PaymentDemands, SUGGESTED_USD } from './payment-demands.js';
export { PaymentOffers } from './payment-offers.js';
export { PublicOrigin } from './public-origin.js';
export { Signatures } from './signatures.js';
export { TopUpController } from './top-up.controller.js';
export { WalletHistory } from './wallet-transactions.js';
export { Wallets } from './wallets.js';

export { PaymentDemands, SUGGESTED_USD } from './payment-demands.js';
export { WalletHistory } from './wallet-transactions.js';

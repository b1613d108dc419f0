export {
  PaymentOption,
  PaymentRequired,
  SignInChallenge,
  WalletPaymentRequired,
} from './payment-required.js';
export {
  TopUpQuery,
  TopUpRefused,
  TopUpReply,
  TransactionQuery,
  WalletBalance,
  type WalletParams,
  type WalletTransaction,
  WalletTransactions,
} from './wallet-routes.js';

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
  UnsignedSolanaTransfer,
  WalletBalance,
  type WalletParams,
  type WalletTransaction,
  WalletTransactions,
  WantedSolanaTransfer,
} from './wallet-routes.js';

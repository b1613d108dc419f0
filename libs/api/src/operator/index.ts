export { LOG_LEVELS, type LogLevel, LogLevelView, NewLogLevel } from './log-level.js';
export { AccountStatement, LedgerMonth, SpenderList, SpenderQuery } from './operator-accounting.js';
export {
  AccountTermsChange,
  AccountList,
  AccountQuery,
  type ListedAccount,
  NewSuspension,
} from './operator-accounts.js';
export { ActionList, ActionQuery, ActionView } from './operator-actions.js';
export { BackendList, BackendStateView, NewBackendState } from './operator-backends.js';
export { ChargeView, HoldList, RequestView } from './operator-charges.js';
export { NewCreditReversal, NewDebit } from './operator-debits.js';
export { CatalogCheck, CatalogToCheck, FileInForce, OperatorFileView } from './operator-files.js';
export { JobList, JobQuery, JobView } from './operator-jobs.js';
export { OperatorKeyList, OperatorKeyQuery, OperatorKeyView } from './operator-keys.js';
export {
  NewPaymentDecision,
  PaymentList,
  PaymentQuery,
  PaymentsAuditView,
  PaymentTotalsView,
  PaymentView,
} from './operator-payments.js';
export { AuditQuery, NewRefund, RefundTransfers } from './operator-refund.js';
export { NewOperatorEndpoint, OperatorEndpointChange } from './operator-webhooks.js';
export { NewStake, parseTokens, StakeView } from './operator-stake.js';
export { LinkList, OperatorTokenView } from './operator-token.js';
export {
  Account,
  AccountWithBalances,
  AuditView,
  CreatedApiKey,
  NewAccount,
  NewCredit,
  TransferList,
  TransferQuery,
  TransferView,
} from './operator.js';

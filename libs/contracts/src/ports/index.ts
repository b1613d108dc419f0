export {
  type AccountLimit,
  type Caller,
  type KeyRestrictions,
  KEY_PREFIX,
  KEY_TYPES,
  type KeyType,
  MODEL_PRIVACIES,
  type ModelPrivacy,
  walletAccountId,
  consoleKeyId,
  isConsole,
  isOfKey,
  nameWithoutKey,
  walletName,
} from './identity.js';
export { matchesPattern } from './patterns.js';
export { BOOKS_WIRE, CHARGES_WIRE, HOLDS_WIRE, LEDGER_WIRE } from './ledger-wire.js';
export {
  type AuditReport,
  type AuditScope,
  Books,
  Charges,
  CHARGES_PER_POSTING,
  type Credit,
  type Debit,
  DEPOSITS_AT_ONCE,
  type DepositsWanted,
  type Extension,
  type Hold,
  type HoldRequest,
  Holds,
  HOLDS_PER_RENEWAL,
  Ledger,
  LIMIT_PERIODS,
  type LimitPeriod,
  type PostedCharge,
  type Refund,
  type Reversal,
  type SpendingLimit,
  type Stake,
  type Transfer,
  TRANSFER_KINDS,
  type TransferKind,
  type TransferPage,
} from './ledger.js';
export { LIMITS_WIRE, LimitsState, PLACES_PER_RENEWAL } from './limiter-wire.js';
export {
  type Admission,
  type AdmitRequest,
  type Amounts,
  DAY_MS,
  FAILURE_BLOCK_MS,
  FAILURE_WINDOW_MS,
  type FailureBlock,
  FAILURES_ALLOWED,
  type Limit,
  LIMIT_UNITS,
  type LimitedResource,
  Limiter,
  type LimitRefusal,
  type Limits,
  type LimitScope,
  type LimitState,
  limitTypeOf,
  type LimitUnit,
  MINUTE_MS,
  type MinuteLimits,
  perMinute,
  type UnderWay,
} from './limiter.js';
export {
  type EarlierMediaJob,
  ENDED_BY_OPERATOR,
  MEDIA_JOB_STATES,
  MEDIA_JOBS_WIRE,
  type MediaJob,
  type MediaJobCalls,
  type MediaJobFailure,
  type MediaJobName,
  type MediaJobRecord,
  MediaJobs,
  type MediaJobState,
  type MediaJobsWanted,
  type MediaKind,
  MediaOrder,
  type NewMediaJob,
  type StoredMedia,
  UNFINISHED_JOB_STATES,
} from './media-jobs.js';
export { PAYMENTS_WIRE } from './payments-wire.js';
export {
  type CreditedPayment,
  PAYMENT_STATES,
  type PaymentDecision,
  type PaymentOutcome,
  type PaymentRail,
  type PaymentRecord,
  Payments,
  type PaymentsAuditReport,
  type PaymentState,
  type PaymentsWanted,
  type PaymentTotals,
  type RailAudit,
  type SignedText,
} from './payments.js';
export { CALLS_AT_ONCE, PortCalls, readPortResult } from './port-calls.js';
export { type MethodWire, Name, Nothing, type PortWire, type RemotePort, wireText } from './port-wire.js';
export {
  decodeExtraction,
  decodeFile,
  encodeExtraction,
  encodeFileHead,
  ExtractionReply,
  FILE_HEADER,
  RETRIEVAL_PATHS,
} from './retrieval-wire.js';
export { type ExtractedText, ExtractionFailed, Retrieval, type SourceFile } from './retrieval.js';
export { USAGE_HISTORY_WIRE } from './usage-history-wire.js';
export {
  type KeySpend,
  type UsageDay,
  type UsageEntry,
  type UsageFilter,
  UsageHistory,
  type UsagePage,
  type RequestPlace,
  type UsagePlace,
} from './usage-history.js';
export { decodePage, encodePage, PageRequestOnWire, WebPageReply } from './web-pages-wire.js';
export { type PageRequest, PageUnread, type WebPage, WebPages } from './web-pages.js';
export {
  decodeResults,
  encodeResults,
  QUERY_CHARACTERS,
  WebQueryOnWire,
  WebResultsReply,
} from './web-search-wire.js';
export { type FoundPage, SearchFailed, type WebQuery, type WebResults, WebSearch } from './web-search.js';

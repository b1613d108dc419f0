export type { Deprecation } from './catalog/deprecation.js';
export { AccountLimits } from './http/keys/account-limits.js';
export {
  ApiKeyChange,
  type ApiKeyList,
  ApiKeyParams,
  ApiKeyQuery,
  type ApiKeyReply,
  ApiKeyView,
  type ChangedApiKeyReply,
  NewApiKey,
  type NewApiKeyReply,
  PlainApiKeyView,
  type RevokedApiKeyReply,
} from './http/keys/api-keys.js';
export {
  Backend,
  Capabilities,
  CatalogEntry,
  CatalogFile,
  CatalogModel,
  type Extra,
  MODEL_TYPES,
  type OtherLimit,
  type CatalogEmbeddingModel,
  type CatalogMusicModel,
  type CatalogVideoModel,
  type CatalogSpeechModel,
  type CatalogTranscriptionModel,
  CatalogImageModel,
  type CatalogEditModel,
  type CatalogUpscaleModel,
  type PriceTree,
  Pricing,
  TIERS,
  TierLimits,
  type Tier,
  type TokenizerName,
} from './catalog/catalog.js';
export type { TeeBackend } from './catalog/tee-backends.js';
export { AttestationCall, EnclaveReport, EnclaveSignature } from './messages/enclaves.js';
export { type EncryptionKeys, SignatureCall } from './messages/enclaves.js';
export type { TeeAttestation, TeeQuery, TeeSignature, TeeSignatureQuery } from './http/tee/tee.js';
export { AUDIO_MEDIA_TYPES, SPEECH_FORMATS, SPEECH_MEDIA_TYPES } from './catalog/audio-models.js';
export type { AudioFileFormat, SpeechFormat } from './catalog/audio-models.js';
export {
  IMAGE_QUALITIES,
  IMAGE_RESOLUTIONS,
  type ImageQuality,
  type ImageResolution,
  type ImageTier,
  imageUsd,
} from './catalog/image-models.js';
export { type WorkflowSlot, slotIn } from './catalog/workflow.js';
export { Scraping, Search, SearchProvider } from './catalog/search.js';
export {
  type MusicMeasure,
  type PricedUnits,
  type VideoMeasure,
  musicPrice,
  secondsOf,
  videoPrice,
} from './catalog/video-models.js';
export {
  ANALYTICS_DAYS,
  ANALYTICS_TOP,
  BillingAnalytics,
  BillingAnalyticsQuery,
  BillingBalance,
  BillingEntry,
  BillingUsage,
  BillingUsageHistory,
  BillingUsageHistoryQuery,
  BillingUsageQuery,
} from './http/billing/billing.js';
export {
  Character,
  type CharacterList,
  CharacterQuery,
  type CharacterReply,
  CharacterReviewQuery,
  type CharacterReviews,
  type CharacterView,
  CharactersFile,
} from './http/characters/characters.js';
export {
  type AugmentFile,
  type AugmentFileReply,
  type AugmentScrape,
  type AugmentScrapeReply,
  type AugmentSearch,
  type AugmentSearchReply,
} from './http/augment/augment.js';
export { SpeechRequest, characterCount } from './http/audio/speech.js';
export { TranscriptReply, TranscriptionRequest, TranslationRequest } from './http/audio/transcriptions.js';
export { CompletionRequest } from './http/completions/completions.js';
export type { InputItem } from './http/responses/response-items.js';
export { ResponseRequest, SEARCH_TOOLS } from './http/responses/response-request.js';
export type { AssistantBlock, MessageParam, UserBlock } from './http/messages/message-blocks.js';
export { MESSAGE_ERRORS, messageError } from './http/messages/message-errors.js';
export type { MessageUsage, TokenCount } from './http/messages/message-reply.js';
export { type MessageToolChoice, isWebSearch } from './http/messages/message-tools.js';
export { type CountTokensRequest, MessagesRequest } from './http/messages/messages-request.js';
export { type EmbeddingReply, EmbeddingRequest } from './http/embeddings/embeddings.js';
export type { RpcNetworkList, RpcRequest } from './http/crypto-rpc/crypto-rpc.js';
export { CryptoRpc, GENESIS_HASH, type RpcFamily, type RpcNetwork } from './catalog/rpc-networks.js';
export {
  type ImageCutoutRequest,
  ImageEditRequest,
  ImageEditsRequest,
  type ImageGenerationReply,
  ImageGenerationRequest,
  type ImageReply,
  ImageMultiEditRequest,
  ImageRequest,
  type ImageStyleList,
  type ImageUpscaleRequest,
} from './http/images/images.js';
export { SIGNATURE_CHARACTERS } from './http/chat/chat-bounds.js';
export { ChatCompletionChunk } from './http/chat/chat-chunk.js';
export { ContentPart, Message, TextPart } from './http/chat/chat-messages.js';
export { ChatRequest, NOT_INT64, SvcParameters } from './http/chat/chat-request.js';
export { type Tool, type ToolChoice } from './http/chat/chat-tools.js';
export { ChatCompletion, Cost, SvcParametersEcho, UsageView } from './http/chat/chat-response.js';
export { PAYMENTS_WIRE } from './ports/payments-wire.js';
export {
  PAYMENT_STATES,
  type CreditedPayment,
  type OpenPayment,
  type PaymentOutcome,
  type PaymentRail,
  Payments,
  type SignedText,
  type PaymentDecision,
  type PaymentRecord,
  type PaymentState,
  type PaymentTotals,
  type PaymentsAuditReport,
  type PaymentsWanted,
  type RailAudit,
} from './ports/payments.js';
export {
  type TopUpQuery,
  type TopUpReply,
  type TransactionQuery,
  type WalletBalance,
  type WalletParams,
  type WalletTransaction,
  type WalletTransactions,
} from './http/wallets/wallet-routes.js';
export { hasFailed, isError, readChoiceEnd } from './messages/choice-ends.js';
export { EVENTS } from './messages/all-events.js';
export { type EventDefinition, EventLog, defineEvent } from './messages/events.js';
export { KEY_PREFIX, KEY_TYPES, MODEL_PRIVACIES, walletAccountId, walletName } from './ports/identity.js';
export type { AccountLimit, Caller, KeyType, ModelPrivacy } from './ports/identity.js';
export {
  type ServedBy,
  AudioToTranscribe,
  type CallFile,
  type CallKind,
  type ChunkStream,
  type Completion,
  EmbeddingTexts,
  EmbeddingVectors,
  ImageEdit,
  ImageOrder,
  type InferenceCall,
  type JobCallKind,
  InferenceRouter,
  MadeImages,
  PictureChange,
  SpokenText,
  type StreamedBytes,
  Transcript,
  isMadeOnce,
} from './ports/inference-router.js';
export {
  PROBLEM_TRAILER,
  decodeServedBy,
  decodeInferenceCall,
  decodeProblemTrailer,
  encodeServedBy,
  encodeInferenceCall,
  encodeProblemTrailer,
} from './ports/inference-router-wire.js';
export {
  type JobDefinition,
  type JobOptions,
  Jobs,
  auditNewEntries,
  auditWholeBook,
  defineJob,
  setStakedDiem,
} from './messages/jobs.js';
export { type KeyChanged, keyChanged } from './messages/key-events.js';
export { type AuditReport, type AuditScope, Books, type Credit, type Extension } from './ports/ledger.js';
export { HOLDS_PER_RENEWAL, type Hold, type HoldRequest, LIMIT_PERIODS, Ledger } from './ports/ledger.js';
export { Holds, Charges, CHARGES_PER_POSTING, DEPOSITS_AT_ONCE } from './ports/ledger.js';
export { type Debit, type DepositsWanted, type LimitPeriod, type PostedCharge } from './ports/ledger.js';
export { type Refund, type Reversal, type SpendingLimit } from './ports/ledger.js';
export {
  type Stake,
  TRANSFER_KINDS,
  type Transfer,
  type TransferKind,
  type TransferPage,
} from './ports/ledger.js';
export {
  type AccountBalances,
  Accounting,
  BALANCES_AT_ONCE,
  type Spender,
  type SpendingPeriod,
} from './accounting/accounting.js';
export { type AccountingEntry, STATEMENT_ENTRIES, type StatementEntry } from './accounting/accounting.js';
export { ACCOUNTING_WIRE } from './accounting/accounting-wire.js';
export { BOOKS_WIRE, CHARGES_WIRE, HOLDS_WIRE, LEDGER_WIRE } from './ports/ledger-wire.js';
export {
  LIMIT_LOG_LENGTH,
  LIMIT_LOG_TYPES,
  LIMIT_TYPES,
  LimitLog,
  type LimitLogType,
  type LimitType,
  LimitReached,
  limitReached,
} from './messages/limit-log.js';
export {
  type AdmitRequest,
  type Admission,
  type Amounts,
  FAILURES_ALLOWED,
  FAILURE_BLOCK_MS,
  FAILURE_WINDOW_MS,
  type FailureBlock,
  LIMIT_UNITS,
  type Limit,
  type LimitRefusal,
  type LimitScope,
  type LimitState,
  type LimitUnit,
  type LimitedResource,
  Limiter,
  type Limits,
  DAY_MS,
  MINUTE_MS,
  type MinuteLimits,
  limitTypeOf,
  perMinute,
  type UnderWay,
} from './ports/limiter.js';
export { LIMITS_WIRE, LimitsState, PLACES_PER_RENEWAL } from './ports/limiter-wire.js';
export {
  type PaymentOption,
  type PaymentRequired,
  type SignInChallenge,
  type WalletPaymentRequired,
} from './http/wallets/payment-required.js';
export { type AnthropicModel, type AnthropicModelList } from './http/models/anthropic-models.js';
export {
  ModelList,
  ModelNames,
  ModelQuery,
  ModelView,
  type EmbeddingModelView,
  type ImageModelView,
  type TranscriptionModelView,
  type OtherModelView,
  type SpeechModelView,
  type PricingView,
  type TextModelView,
} from './http/models/models.js';
export {
  BalancesOnWire,
  Count,
  type MethodWire,
  Name,
  Nothing,
  type PortWire,
  SignedWhole,
  Time,
  Whole,
  wireText,
} from './ports/port-wire.js';
export { CALLS_AT_ONCE, PortCalls, PortResult, readPortResult } from './ports/port-calls.js';
export { USAGE_HISTORY_WIRE } from './ports/usage-history-wire.js';
export { ProblemOnWire, decodeProblem, encodeProblem } from './problems/problem-wire.js';
export { TREATMENTS, type Treatment } from './openapi/field-treatments.js';
export { type OpenApiAudience, openApiDocument } from './openapi/openapi.js';
export { resolveResponse } from './openapi/shared-responses.js';
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
} from './money/usdc.js';
export {
  type Balances,
  type Currency,
  NANO_PER_USD,
  NO_MONEY,
  formatUsd,
  minus,
  numberToNano,
  parseUsd,
  plus,
  pricedNano,
  totalNano,
  usdNumber,
  usdToNano,
} from './money/money.js';
export { type TokenKind, UNITS, type Unit, tokenSku, unitOf, unitView } from './money/units.js';
export { LOG_LEVELS, type LogLevel, LogLevelView, NewLogLevel } from './http/operator/log-level.js';
export { Account, AccountWithBalances, AuditView, CreatedApiKey } from './http/operator/operator.js';
export { NewAccount, NewCredit, TransferList, TransferQuery } from './http/operator/operator.js';
export { TransferView } from './http/operator/operator.js';
export {
  type AccountList,
  AccountQuery,
  type ListedAccount,
  NewSuspension,
} from './http/operator/operator-accounts.js';
export { OperatorKeyQuery } from './http/operator/operator-keys.js';
export type { OperatorKeyList, OperatorKeyView } from './http/operator/operator-keys.js';
export { OPERATOR_SCOPES, type OperatorScope } from './http/route/route-definition.js';
export { type ActionList, ActionQuery, type ActionView } from './http/operator/operator-actions.js';
export { FileInForce, type OperatorFileView } from './http/operator/operator-files.js';
export { type JobList, JobQuery, type JobView } from './http/operator/operator-jobs.js';
export { type ChargeView, type RequestView } from './http/operator/operator-charges.js';
export { NewStake, StakeView, parseTokens } from './http/operator/operator-stake.js';
export { NewPaymentDecision, PaymentQuery, type PaymentList } from './http/operator/operator-payments.js';
export type { PaymentTotalsView, PaymentView, PaymentsAuditView } from './http/operator/operator-payments.js';
export { AuditQuery, NewRefund, RefundTransfers } from './http/operator/operator-refund.js';
export { NewCreditReversal, NewDebit } from './http/operator/operator-debits.js';
export {
  type LedgerMonth,
  type SpenderList,
  SpenderQuery,
  type AccountStatement,
} from './http/operator/operator-accounting.js';
export { PROVISIONAL_MS, type Issue, type IssueTree, Problem, errorBody } from './problems/problem.js';
export { PROBLEMS, type ProblemCode, type ProblemKind, type ProblemRow } from './problems/problems.js';
export { type ExtractedText, ExtractionFailed, Retrieval, type SourceFile } from './ports/retrieval.js';
export {
  ExtractionReply,
  FILE_HEADER,
  decodeExtraction,
  decodeFile,
  encodeExtraction,
  encodeFileHead,
} from './ports/retrieval-wire.js';
export {
  type FoundPage,
  SearchFailed,
  type WebQuery,
  type WebResults,
  WebSearch,
} from './ports/web-search.js';
export {
  PAGES_PER_SEARCH,
  QUERY_CHARACTERS,
  WebQueryOnWire,
  WebResultsReply,
  decodeResults,
  encodeResults,
} from './ports/web-search-wire.js';
export { type PageRequest, PageUnread, type WebPage, WebPages } from './ports/web-pages.js';
export { PageRequestOnWire, WebPageReply, decodePage, encodePage } from './ports/web-pages-wire.js';
export { RateLimitLog, RateLimits } from './http/limits/rate-limits.js';
export { type Access, type ErrorShape, type RouteDefinition } from './http/route/route-definition.js';
export { FILE_LIMIT_BYTES, FormFile, isFormFileSchema } from './http/route/form-file.js';
export { routes } from './http/routes.js';
export {
  MEDIA_JOBS_BACKEND,
  NO_USAGE,
  UsageRecorded,
  chargeLine,
  decodeCharge,
  emptyCharge,
} from './messages/usage.js';
export { encodeCharge, encodeGiveBack } from './messages/usage.js';
export { usageRecorded } from './messages/usage.js';
export type { Charge, ChargeLine, Price, Usage } from './messages/usage.js';
export { UsageHistory } from './ports/usage-history.js';
export type { KeySpend, UsageDay, UsageEntry, UsageFilter, UsagePage } from './ports/usage-history.js';
export type { UsagePlace } from './ports/usage-history.js';
export { invalidRequest, validate, validateInSlices } from './problems/validate.js';
export { BackendJob, BackendJobStatus, MEDIA_JOBS_WIRE, MediaJobs, MediaOrder } from './ports/media-jobs.js';
export { ENDED_BY_OPERATOR, UNFINISHED_JOB_STATES } from './ports/media-jobs.js';
export type { MediaJobRecord, MediaJobState, MediaJobsWanted } from './ports/media-jobs.js';
export type { EarlierMediaJob, MediaJob, MediaJobFailure, MediaJobName } from './ports/media-jobs.js';
export type { MediaJobCalls, MediaKind, NewMediaJob, StoredMedia } from './ports/media-jobs.js';
export { MediaComplete, MediaProgress, MediaRetrieve } from './http/media-jobs/media-jobs.js';
export { MusicOrder, MusicQuote, VideoOrder, VideoQuote } from './http/media-jobs/media-jobs.js';

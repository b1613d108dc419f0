export {
  Backend,
  Capabilities,
  type CatalogEntry,
  CatalogFile,
  CatalogModel,
  type Deprecation,
  MODEL_TYPES,
  type OtherModel,
  type PriceTree,
  Pricing,
  TIERS,
  TierLimits,
  type Tier,
} from './catalog.js';
export {
  Character,
  type CharacterList,
  CharacterQuery,
  type CharacterReply,
  type CharacterView,
  CharactersFile,
} from './characters.js';
export { ChatCompletionChunk } from './chat-chunk.js';
export { ChatRequest, ContentPart, Message, SvcParameters, TextPart } from './chat-request.js';
export { ChatCompletion, Cost, SvcParametersEcho, UsageView } from './chat-response.js';
export { EventLog } from './event-log.js';
export { type EventDefinition, defineEvent } from './events.js';
export { KEY_PREFIX, type Caller } from './identity.js';
export {
  type ChunkStream,
  type Completion,
  type InferenceCall,
  InferenceRouter,
} from './inference-router.js';
export {
  type AuditReport,
  Books,
  type Credit,
  type Extension,
  type Hold,
  type HoldRequest,
  Ledger,
  type Page,
  type Transfer,
  type TransferKind,
} from './ledger.js';
export { type AdmitRequest, type Admission, type LimitState, Limiter } from './limiter.js';
export {
  ModelList,
  ModelNames,
  ModelQuery,
  ModelView,
  type OtherModelView,
  type PricingView,
  type TextModelView,
} from './models.js';
export { type OpenApiAudience, openApiDocument } from './openapi.js';
export {
  type Balances,
  type Currency,
  NANO_PER_USD,
  formatUsd,
  parseUsd,
  tokensCostNano,
  totalNano,
  usdNumber,
  usdToNano,
} from './money.js';
export {
  Account,
  AccountWithBalances,
  AuditView,
  CreatedApiKey,
  NewAccount,
  NewApiKey,
  NewCredit,
  TransferList,
  TransferQuery,
  TransferView,
} from './operator.js';
export {
  type ErrorBody,
  type Issue,
  type IssueTree,
  Problem,
  type ProblemDetails,
  errorBody,
} from './problem.js';
export { PROBLEMS, type ProblemCode, type ProblemKind, type ProblemRow } from './problems.js';
export {
  type ExtractedText,
  ExtractionFailed,
  type ImageFacts,
  ImageRejected,
  Retrieval,
  type SourceFile,
} from './retrieval.js';
export { type Access, type RouteDefinition } from './route-definition.js';
export { routes } from './routes.js';
export {
  type Charge,
  type ChargeLine,
  type Usage,
  UsageRecorded,
  decodeCharge,
  encodeCharge,
  usageRecorded,
} from './usage.js';
export { invalidRequest, validate } from './validate.js';

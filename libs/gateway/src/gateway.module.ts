import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import {
  AccountStore,
  AccountLimitsStore,
  DevelopmentAccount,
  FailedRequestStore,
  KeyStore,
  KeyListStore,
  WalletStore,
} from '@svc/paid/accounts';
import { AccountLimitsController } from './operator/account-limits.controller.js';
import { AccountsController } from './operator/accounts.controller.js';
import { BackgroundWork, BalanceHeaders } from '@svc/paid/http';
import { ApiKeys } from './keys/api-keys.js';
import { ApiKeysController } from './keys/api-keys.controller.js';
import { AttachmentFetcher, Attachments, FileTexts } from '@svc/paid/attachments';
import { AuditController } from './operator/audit.controller.js';
import { BillingAnalyticsController } from './billing/billing-analytics.controller.js';
import { BillingUsageController } from './billing/billing-usage.controller.js';
import { BillingController } from './billing/billing.controller.js';
import { AccessGates } from '@svc/runtime';
import {
  GatewayAccess,
  OperatorTokens,
  Callers,
  BatchedLookups,
  KeyCache,
  FailedRequests,
  KeyUses,
  FailureGate,
  FailureWatch,
} from '@svc/paid/auth';
import { CharactersController, ModelsController } from '@svc/paid/models';
import {
  ChatController,
  ChatPipeline,
  Completions,
  FollowUpCall,
  Inference,
  PromptMaking,
} from '@svc/text/chat';
import { CompletionsController } from '@svc/client-dialects/completions';
import { MessagesController, PromptTokens } from '@svc/client-dialects/messages';
import { DocsController } from './docs/docs.controller.js';
import { GatewaySettings } from '@svc/paid';
import { KeyChanges, KeyChangesConsumer } from './keys/key-changes.js';
import { KeyCreationLimit } from './keys/key-creation-limit.js';
import { OpenApiController } from './docs/openapi.controller.js';
import { FailureBlocks, LimitGate, LimitReports } from '@svc/paid/limits';
import { RateLimitsView } from './keys/rate-limits-view.js';
import { RateLimitsController } from './keys/rate-limits.controller.js';
import { Preparation, Prompts } from '@svc/text/request';
import { ResponsesController } from '@svc/client-dialects/responses';
import { SuspensionsController } from './operator/suspensions.controller.js';
import { KeysController } from './operator/keys.controller.js';
import { ActionLog } from './operator/action-log.js';
import { ActionStore } from './operator/action.store.js';
import { ActionsController } from './operator/actions.controller.js';
import { StatementsController } from './operator/statements.controller.js';
import { DebitsController } from './operator/debits.controller.js';
import { ChargesController } from './operator/charges.controller.js';
import { JobsController } from './operator/jobs.controller.js';
import { FileChanges } from './operator/file-changes.js';
import { StakesController } from './operator/stakes.controller.js';
import { Tokenizers } from '@svc/text/tokens';
import { PaymentsController } from './operator/payments.controller.js';
import { RefundsController } from './operator/refunds.controller.js';
import { AugmentController } from './augment/augment.controller.js';
import {
  CryptoRpcController,
  NodeRequests,
  RpcNodes,
  RpcReplays,
  RpcRequestsStore,
  RpcSends,
  SharedReads,
} from '@svc/rpc/crypto-rpc';
import { EditPictures, ImageMaker, ImageSales, ImagesController } from '@svc/media-api/images';
import { NetworkLimit } from './tee/network-limit.js';
import { TeeController } from './tee/tee.controller.js';
import { Embedder, EmbeddingsController } from '@svc/text/embeddings';
import { SpeechController, SpeechPipeline, VoicesController } from '@svc/media-api/speech';
import { TranscriptionsController } from '@svc/media-api/transcriptions';
import { MediaJobsController, MediaOrders, MediaResults } from '@svc/media-api/media-jobs';
import { PaidOperations } from '@svc/paid/paid';
import { WebResearch } from '@svc/text/web';
import {
  PaymentOffers,
  WalletHistory,
  TopUpController,
  PaymentDemands,
  PublicOrigin,
  Signatures,
  Wallets,
} from '@svc/paid/wallets';
import { WalletsController } from './billing/wallets.controller.js';

const CONTROLLERS = [
  ChatController,
  CompletionsController,
  ResponsesController,
  MessagesController,
  ModelsController,
  CharactersController,
  OpenApiController,
  DocsController,
  AccountsController,
  AccountLimitsController,
  ApiKeysController,
  KeyChangesConsumer,
  AuditController,
  BillingController,
  BillingUsageController,
  BillingAnalyticsController,
  StakesController,
  SuspensionsController,
  StatementsController,
  ChargesController,
  DebitsController,
  ActionsController,
  JobsController,
  KeysController,
  RefundsController,
  PaymentsController,
  RateLimitsController,
  TopUpController,
  WalletsController,
  AugmentController,
  CryptoRpcController,
  TeeController,
  EmbeddingsController,
  SpeechController,
  VoicesController,
  TranscriptionsController,
  ImagesController,
  MediaJobsController,
];

const ACTION_RECORDS = [ActionLog, ActionStore, FileChanges];

const STORES = [AccountLimitsStore, AccountStore, FailedRequestStore, KeyListStore, KeyStore, WalletStore];

/**
 * The API for clients and operators. The imported modules must provide `Ledger`, `Accounting`, `Books`,
 * `Limiter`, `InferenceRouter`, `MediaJobs`, `Retrieval`, `WebSearch`, `WebPages` and `Payments`.
 */
@Module({})
export class GatewayModule {
  static with(settings: GatewaySettings, neighbours: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: GatewayModule,
      imports: neighbours,
      controllers: CONTROLLERS,
      providers: [
        ...STORES,
        { provide: GatewaySettings, useValue: settings },
        { provide: OperatorTokens, useValue: new OperatorTokens(settings) },
        { provide: AccessGates, useClass: GatewayAccess },
        ...ACTION_RECORDS,
        ApiKeys,
        AttachmentFetcher,
        Attachments,
        FileTexts,
        BackgroundWork,
        BalanceHeaders,
        Callers,
        KeyCache,
        ChatPipeline,
        Completions,
        PromptTokens,
        DevelopmentAccount,
        Embedder,
        SpeechPipeline,
        FailedRequests,
        FailureBlocks,
        FailureGate,
        FailureWatch,
        FollowUpCall,
        BatchedLookups,
        NodeRequests,
        RpcNodes,
        SharedReads,
        RpcReplays,
        RpcRequestsStore,
        RpcSends,
        KeyChanges,
        KeyCreationLimit,
        KeyUses,
        EditPictures,
        ImageMaker,
        ImageSales,
        Inference,
        LimitGate,
        LimitReports,
        MediaOrders,
        MediaResults,
        NetworkLimit,
        PaymentDemands,
        PaymentOffers,
        Preparation,
        PromptMaking,
        Prompts,
        PublicOrigin,
        RateLimitsView,
        Signatures,
        Tokenizers,
        WebResearch,
        WalletHistory,
        Wallets,
        PaidOperations,
      ],
      exports: [DevelopmentAccount],
    };
  }
}

import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { AccountStore } from './accounts/account.store.js';
import { AccountLimitsController } from './operator/account-limits.controller.js';
import { AccountLimitsStore } from './accounts/account-limits.store.js';
import { AccountsController } from './operator/accounts.controller.js';
import { BackgroundWork } from './http/background-work.js';
import { ApiKeys } from './keys/api-keys.js';
import { ApiKeysController } from './keys/api-keys.controller.js';
import { AttachmentFetcher } from './request/attachment-fetcher.js';
import { Attachments } from './request/attachments.js';
import { FileTexts } from './request/file-texts.js';
import { AuditController } from './operator/audit.controller.js';
import { BalanceHeaders } from './http/balance-headers.js';
import { BillingAnalyticsController } from './billing/billing-analytics.controller.js';
import { BillingUsageController } from './billing/billing-usage.controller.js';
import { BillingController } from './billing/billing.controller.js';
import { AccessGates } from '@svc/runtime';
import { GatewayAccess } from './auth/access.js';
import { OperatorTokens } from './auth/operator-tokens.js';
import { Callers } from './auth/callers.js';
import { BatchedLookups } from './auth/batched-lookups.js';
import { KeyCache } from './auth/key-cache.js';
import { CharactersController } from './models/characters.controller.js';
import { ChatController } from './chat/chat.controller.js';
import { ChatPipeline } from './chat/chat.pipeline.js';
import { Completions } from './chat/completions.js';
import { CompletionsController } from './completions/completions.controller.js';
import { FollowUpCall } from './chat/follow-up-call.js';
import { Inference } from './chat/inference.js';
import { MessagesController } from './messages/messages.controller.js';
import { PromptTokens } from './messages/prompt-tokens.js';
import { PromptMaking } from './chat/prompt-making.js';
import { DevelopmentAccount } from './accounts/development-account.js';
import { DocsController } from './docs/docs.controller.js';
import { GatewaySettings } from './gateway.config.js';
import { KeyChanges, KeyChangesConsumer } from './keys/key-changes.js';
import { KeyCreationLimit } from './keys/key-creation-limit.js';
import { FailedRequests } from './auth/failed-requests.js';
import { FailedRequestStore } from './accounts/failed-request.store.js';
import { KeyUses } from './auth/key-uses.js';
import { KeyStore } from './accounts/key.store.js';
import { ModelsController } from './models/models.controller.js';
import { OpenApiController } from './docs/openapi.controller.js';
import { FailureBlocks } from './limits/failure-blocks.js';
import { FailureGate } from './auth/failure-gate.js';
import { FailureWatch } from './auth/failure-watch.js';
import { LimitGate } from './limits/limit-gate.js';
import { LimitReports } from './limits/limit-reports.js';
import { RateLimitsView } from './keys/rate-limits-view.js';
import { RateLimitsController } from './keys/rate-limits.controller.js';
import { Preparation } from './request/preparation.js';
import { ResponsesController } from './responses/responses.controller.js';
import { Prompts } from './request/prompts.js';
import { SuspensionsController } from './operator/suspensions.controller.js';
import { KeyListStore } from './accounts/key-list.store.js';
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
import { Tokenizers } from './tokens/tokenizers.js';
import { PaymentsController } from './operator/payments.controller.js';
import { RefundsController } from './operator/refunds.controller.js';
import { AugmentController } from './augment/augment.controller.js';
import { CryptoRpcController } from './crypto-rpc/crypto-rpc.controller.js';
import { NodeRequests } from './crypto-rpc/node-requests.js';
import { RpcNodes } from './crypto-rpc/rpc-nodes.js';
import { RpcReplays } from './crypto-rpc/rpc-replays.js';
import { RpcRequestsStore } from './crypto-rpc/rpc-requests.store.js';
import { RpcSends } from './crypto-rpc/rpc-sends.js';
import { SharedReads } from './crypto-rpc/shared-reads.js';
import { EditPictures } from './images/edit-pictures.js';
import { ImageMaker } from './images/image-maker.js';
import { ImageSales } from './images/image-sales.js';
import { ImagesController } from './images/images.controller.js';
import { NetworkLimit } from './tee/network-limit.js';
import { TeeController } from './tee/tee.controller.js';
import { Embedder } from './embeddings/embedder.js';
import { EmbeddingsController } from './embeddings/embeddings.controller.js';
import { SpeechController } from './speech/speech.controller.js';
import { SpeechPipeline } from './speech/speech.pipeline.js';
import { VoicesController } from './speech/voices.controller.js';
import { TranscriptionsController } from './transcriptions/transcriptions.controller.js';
import { MediaJobsController } from './media-jobs/media-jobs.controller.js';
import { MediaOrders } from './media-jobs/media-orders.js';
import { MediaResults } from './media-jobs/media-results.js';
import { PaidOperations } from './paid/paid-operations.js';
import { WebResearch } from './web/web-research.js';
import { PaymentOffers } from './wallets/payment-offers.js';
import { WalletsController } from './billing/wallets.controller.js';
import { WalletHistory } from './wallets/wallet-transactions.js';
import { TopUpController } from './wallets/top-up.controller.js';
import { PaymentDemands } from './wallets/payment-demands.js';
import { PublicOrigin } from './wallets/public-origin.js';
import { Signatures } from './wallets/signatures.js';
import { WalletStore } from './accounts/wallet.store.js';
import { Wallets } from './wallets/wallets.js';

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

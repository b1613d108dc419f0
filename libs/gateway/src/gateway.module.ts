import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { AccountStore } from './operator/account.store.js';
import { AccountLimitsController } from './operator/account-limits.controller.js';
import { AccountLimitsStore } from './operator/account-limits.store.js';
import { AccountsController } from './operator/accounts.controller.js';
import { Lenders, Reservations } from './holds/reservations.js';
import { BackgroundWork } from './http/background-work.js';
import { ApiKeys } from './keys/api-keys.js';
import { ApiKeysController } from './keys/api-keys.controller.js';
import { Attachments } from './request/attachments.js';
import { AuditController } from './operator/audit.controller.js';
import { BalanceHeaders } from './http/balance-headers.js';
import { BillingAnalyticsController } from './billing/billing-analytics.controller.js';
import { BillingUsageController } from './billing/billing-usage.controller.js';
import { BillingController } from './billing/billing.controller.js';
import { AccessGates } from '@svc/runtime';
import { GatewayAccess, OperatorToken } from './auth/access.js';
import { Callers } from './auth/callers.js';
import { KeyCache } from './auth/key-cache.js';
import { CharactersController } from './models/characters.controller.js';
import { ChatController } from './chat/chat.controller.js';
import { ChatPipeline } from './chat/chat.pipeline.js';
import { Inference } from './chat/inference.js';
import { DevelopmentAccount } from './operator/development-account.js';
import { DocsController } from './docs/docs.controller.js';
import { GatewaySettings } from './gateway.config.js';
import { KeyChanges } from './keys/key-changes.js';
import { KeyChangesConsumer } from './keys/key-changes.consumer.js';
import { KeyCreationLimit } from './keys/key-creation-limit.js';
import { KeyUses } from './auth/key-uses.js';
import { KeyStore } from './auth/key.store.js';
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
import { Prompts } from './request/prompts.js';
import { StakesController } from './operator/stakes.controller.js';
import { Tokenizers } from './tokens/tokenizers.js';
import { RefundsController } from './operator/refunds.controller.js';
import { UsageKeysStore } from './billing/usage-keys.store.js';

/** The public API and the operator's. Its neighbours bring `Ledger`, `Books`, `Limiter`, `InferenceRouter` and `Retrieval`. */
@Module({})
export class GatewayModule {
  static with(settings: GatewaySettings, neighbours: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: GatewayModule,
      imports: neighbours,
      controllers: [
        ChatController,
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
        RefundsController,
        RateLimitsController,
      ],
      providers: [
        { provide: GatewaySettings, useValue: settings },
        { provide: OperatorToken, useValue: new OperatorToken(settings.operatorToken) },
        { provide: AccessGates, useClass: GatewayAccess },
        AccountLimitsStore,
        AccountStore,
        ApiKeys,
        Attachments,
        BackgroundWork,
        BalanceHeaders,
        Callers,
        KeyCache,
        ChatPipeline,
        DevelopmentAccount,
        FailureBlocks,
        FailureGate,
        FailureWatch,
        KeyChanges,
        KeyCreationLimit,
        KeyStore,
        KeyUses,
        Inference,
        Lenders,
        LimitGate,
        LimitReports,
        Preparation,
        Prompts,
        RateLimitsView,
        Reservations,
        Tokenizers,
        UsageKeysStore,
      ],
      exports: [DevelopmentAccount],
    };
  }
}

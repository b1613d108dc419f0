import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { AccountStore } from './account.store.js';
import { AccountLimitsController } from './account-limits.controller.js';
import { AccountLimitsStore } from './account-limits.store.js';
import { AccountsController } from './accounts.controller.js';
import { AdminGuard } from './admin-guard.js';
import { Admission } from './admission.js';
import { AnswerWriter } from './answer-writer.js';
import { ApiKeys } from './api-keys.js';
import { ApiKeysController } from './api-keys.controller.js';
import { Attachments } from './attachments.js';
import { AuditController } from './audit.controller.js';
import { BalanceHeaders } from './balance-headers.js';
import { BillingAnalyticsController } from './billing-analytics.controller.js';
import { BillingUsageController } from './billing-usage.controller.js';
import { BillingController } from './billing.controller.js';
import { CallerEntry } from './caller-entry.js';
import { CallerGate } from './caller-gate.js';
import { CallerGuard, VisitorGuard } from './caller-guard.js';
import { CharactersController } from './characters.controller.js';
import { ChatDoor } from './chat-door.js';
import { ChatController } from './chat.controller.js';
import { ChatPipeline } from './chat.pipeline.js';
import { DevelopmentAccount } from './development-account.js';
import { DocsController } from './docs.controller.js';
import { GatewaySettings } from './gateway.config.js';
import { Inference } from './inference.js';
import { KeyChanges } from './key-changes.js';
import { KeyChangesConsumer } from './key-changes.consumer.js';
import { KeyCreationLimit } from './key-creation-limit.js';
import { KeyUses } from './key-uses.js';
import { KeyStore } from './key.store.js';
import { ModelsController } from './models.controller.js';
import { OpenApiController } from './openapi.controller.js';
import { FailureGate } from './failure-gate.js';
import { FailureWatch } from './failure-watch.js';
import { LimitGate } from './limit-gate.js';
import { LimitReports } from './limit-reports.js';
import { RateLimitsView } from './rate-limits-view.js';
import { RateLimitsController } from './rate-limits.controller.js';
import { OperatorGate } from './operator-gate.js';
import { Preparation } from './preparation.js';
import { Prompts } from './prompts.js';
import { StakesController } from './stakes.controller.js';
import { Tokenizers } from './tokenizers.js';
import { RefundsController } from './refunds.controller.js';
import { UsageKeysStore } from './usage-keys.store.js';

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
        AccountLimitsStore,
        AccountStore,
        AdminGuard,
        Admission,
        AnswerWriter,
        ApiKeys,
        Attachments,
        BalanceHeaders,
        CallerEntry,
        CallerGate,
        CallerGuard,
        ChatDoor,
        ChatPipeline,
        DevelopmentAccount,
        FailureGate,
        FailureWatch,
        Inference,
        KeyChanges,
        KeyCreationLimit,
        KeyStore,
        KeyUses,
        LimitGate,
        LimitReports,
        OperatorGate,
        Preparation,
        Prompts,
        RateLimitsView,
        Tokenizers,
        VisitorGuard,
        UsageKeysStore,
      ],
      exports: [DevelopmentAccount],
    };
  }
}

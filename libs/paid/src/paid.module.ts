import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { AccessGates } from '@svc/runtime';
import { AccountLimitsStore } from './accounts/account-limits.store.js';
import { AccountStore } from './accounts/account.store.js';
import { DevelopmentAccount } from './accounts/development-account.js';
import { ExpiredRowsStore } from './accounts/expired-rows.store.js';
import { ExpiredRowsWorker } from './accounts/expired-rows.worker.js';
import { FailedRequestStore } from './accounts/failed-request.store.js';
import { KeyListStore } from './accounts/key-list.store.js';
import { KeyStore } from './accounts/key.store.js';
import { WalletStore } from './accounts/wallet.store.js';
import { AttachmentFetcher } from './attachments/attachment-fetcher.js';
import { Attachments } from './attachments/attachments.js';
import { FileTexts } from './attachments/file-texts.js';
import { GatewayAccess } from './auth/access.js';
import { BatchedLookups } from './auth/batched-lookups.js';
import { Callers } from './auth/callers.js';
import { ConsoleAccess } from './auth/console-access.js';
import { FailedRequests } from './auth/failed-requests.js';
import { FailureGate } from './auth/failure-gate.js';
import { FailureWatch } from './auth/failure-watch.js';
import { KeyCache } from './auth/key-cache.js';
import { KeyUses } from './auth/key-uses.js';
import { OperatorTokens } from './auth/operator-tokens.js';
import { Proofs } from './console/proofs.js';
import { SessionStore } from './console/session.store.js';
import { Sessions } from './console/sessions.js';
import { TicketStore } from './console/ticket.store.js';
import { GatewaySettings } from './gateway.config.js';
import { BackgroundWork } from './http/background-work.js';
import { BalanceHeaders } from './http/balance-headers.js';
import { FailureBlocks } from './limits/failure-blocks.js';
import { LimitGate } from './limits/limit-gate.js';
import { LimitReports } from './limits/limit-reports.js';
import { CharactersController } from './models/characters.controller.js';
import { ModelsController } from './models/models.controller.js';
import { PaidOperations } from './paid/paid-operations.js';
import { RepeatHooks } from './repeats/repeat-hooks.js';
import { RepeatedRequestStore } from './repeats/repeated-request.store.js';
import { RepeatedRequests } from './repeats/repeated-requests.js';
import { PaymentDemands } from './wallets/payment-demands.js';
import { PaymentOffers } from './wallets/payment-offers.js';
import { PublicOrigin } from './wallets/public-origin.js';
import { Signatures } from './wallets/signatures.js';
import { TopUpController } from './wallets/top-up.controller.js';
import { WalletHistory } from './wallets/wallet-transactions.js';
import { Wallets } from './wallets/wallets.js';

/** What the modules of products, keys, billing and operators inject. */
const SHARED = [
  AccountLimitsStore,
  AccountStore,
  Attachments,
  BackgroundWork,
  DevelopmentAccount,
  FailedRequestStore,
  KeyCache,
  KeyListStore,
  KeyStore,
  LimitGate,
  PaidOperations,
  PaymentDemands,
  Proofs,
  PublicOrigin,
  SessionStore,
  TicketStore,
  WalletHistory,
];

/**
 * Callers, limits and money, for every module of the process. The imported neighbours must provide `Ledger`,
 * `Accounting`, `Books`, `Limiter`, `InferenceRouter`, `MediaJobs`, `Retrieval`, `WebSearch`, `WebPages` and
 * `Payments`, which become available to every module, too. Requires the global modules of storage, events,
 * jobs and logging.
 */
@Module({})
export class PaidModule {
  static with(settings: GatewaySettings, neighbours: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: PaidModule,
      global: true,
      imports: neighbours,
      controllers: [CharactersController, ModelsController, TopUpController],
      providers: [
        ...SHARED,
        { provide: GatewaySettings, useValue: settings },
        { provide: OperatorTokens, useValue: new OperatorTokens(settings) },
        { provide: AccessGates, useClass: GatewayAccess },
        AttachmentFetcher,
        BalanceHeaders,
        BatchedLookups,
        Callers,
        ConsoleAccess,
        ExpiredRowsStore,
        ExpiredRowsWorker,
        FailedRequests,
        FailureBlocks,
        FailureGate,
        FailureWatch,
        FileTexts,
        KeyUses,
        LimitReports,
        PaymentOffers,
        RepeatHooks,
        RepeatedRequestStore,
        RepeatedRequests,
        Sessions,
        Signatures,
        WalletStore,
        Wallets,
      ],
      exports: [...SHARED, GatewaySettings, ...(neighbours as DynamicModule[])],
    };
  }
}

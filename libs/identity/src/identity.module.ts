import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { AccessGates } from '@svc/runtime';
import { AccountLimitsStore } from './accounts/account-limits.store.js';
import { AccountStore } from './accounts/account.store.js';
import { DevelopmentAccount } from './accounts/development-account.js';
import { FailedRequestStore } from './failures/failed-request.store.js';
import { KeyListStore } from './accounts/key-list.store.js';
import { KeyStore } from './accounts/key.store.js';
import { WalletStore } from './accounts/wallet.store.js';
import { GatewayAccess } from './auth/access.js';
import { BatchedLookups } from './auth/batched-lookups.js';
import { Callers } from './auth/callers.js';
import { ConsoleAccess } from './auth/console-access.js';
import { EndUserLimitsStore } from './end-users/end-user-limits.store.js';
import { EndUsers } from './end-users/end-users.js';
import { FailedRequests } from './failures/failed-requests.js';
import { FailureGate } from './failures/failure-gate.js';
import { FailureWatch } from './failures/failure-watch.js';
import { KeyCache } from './auth/key-cache.js';
import { KeyUses } from './auth/key-uses.js';
import { OperatorTokens } from './auth/operator-tokens.js';
import { Proofs } from './console/proofs.js';
import { SessionStore } from './console/session.store.js';
import { Sessions } from './console/sessions.js';
import { TicketStore } from './console/ticket.store.js';
import { FailureBlocks } from './failures/failure-blocks.js';
import { LimitReports } from './failures/limit-reports.js';
import { PaymentDemands } from './wallets/payment-demands.js';
import { PaymentOffers } from './wallets/payment-offers.js';
import { PublicOrigin } from './wallets/public-origin.js';
import { Signatures } from './wallets/signatures.js';
import { Wallets } from './wallets/wallets.js';
import { IdentitySettings } from './identity.config.js';

/** What the modules of sales, products, keys, billing and operators inject. */
const SHARED = [
  AccountLimitsStore,
  AccountStore,
  DevelopmentAccount,
  EndUserLimitsStore,
  EndUsers,
  FailedRequestStore,
  FailureBlocks,
  KeyCache,
  KeyListStore,
  KeyStore,
  LimitReports,
  PaymentDemands,
  Proofs,
  PublicOrigin,
  SessionStore,
  Signatures,
  TicketStore,
];

/**
 * Who calls, for every module of the process. The imported neighbours must provide `Books`, `Ledger`,
 * `Limiter` and `Payments`. Requires the global modules of storage, events and logging.
 */
@Module({})
export class IdentityModule {
  static with(settings: IdentitySettings, neighbours: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: IdentityModule,
      global: true,
      imports: neighbours,
      providers: [
        ...SHARED,
        { provide: IdentitySettings, useValue: settings },
        { provide: OperatorTokens, useValue: new OperatorTokens(settings) },
        { provide: AccessGates, useClass: GatewayAccess },
        BatchedLookups,
        Callers,
        ConsoleAccess,
        FailedRequests,
        FailureGate,
        FailureWatch,
        KeyUses,
        PaymentOffers,
        Sessions,
        WalletStore,
        Wallets,
      ],
      exports: [...SHARED, OperatorTokens],
    };
  }
}

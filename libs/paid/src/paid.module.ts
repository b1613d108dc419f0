import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { ExpiredRowsStore } from './expired-rows.store.js';
import { ExpiredRowsWorker } from './expired-rows.worker.js';
import { AttachmentFetcher } from './attachments/attachment-fetcher.js';
import { Attachments } from './attachments/attachments.js';
import { FileTexts } from './attachments/file-texts.js';
import { GatewaySettings } from './gateway.config.js';
import { BackgroundWork } from './http/background-work.js';
import { BalanceHeaders } from './http/balance-headers.js';
import { LimitGate } from './limits/limit-gate.js';
import { NetworkLimit } from './limits/network-limit.js';
import { CharactersController } from './models/characters.controller.js';
import { ModelsController } from './models/models.controller.js';
import { PaidOperations } from './paid/paid-operations.js';
import { RepeatHooks } from './repeats/repeat-hooks.js';
import { RepeatedRequestStore } from './repeats/repeated-request.store.js';
import { RepeatedRequests } from './repeats/repeated-requests.js';
import { TopUpController } from './credit/top-up.controller.js';
import { WalletHistory } from './credit/wallet-transactions.js';

/** What the modules of products, keys, billing and operators inject. */
const SHARED = [
  Attachments,
  BackgroundWork,
  LimitGate,
  NetworkLimit,
  PaidOperations,
  RepeatHooks,
  RepeatedRequests,
  WalletHistory,
];

/**
 * Limits and money, for every module of the process. The imported neighbours must provide `Ledger`,
 * `Accounting`, `Books`, `Charges`, `Limiter`, `InferenceRouter`, `MediaJobs`, `FileBlocks`, `Retrieval`,
 * `WebSearch`, `WebPages` and `Payments`, which become available to every module, too. Requires
 * `IdentityModule` and the global modules of storage, jobs and logging.
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
        AttachmentFetcher,
        BalanceHeaders,
        ExpiredRowsStore,
        ExpiredRowsWorker,
        FileTexts,
        RepeatedRequestStore,
      ],
      exports: [...SHARED, GatewaySettings, ...(neighbours as DynamicModule[])],
    };
  }
}

import { type DynamicModule, Module } from '@nestjs/common';
import { InternalToken } from '@svc/runtime';
import { AccountingController } from './api/accounting.controller.js';
import { BooksController } from './api/books.controller.js';
import { HoldsController } from './api/holds.controller.js';
import type { SharedLedgerConfig } from './ledger.config.js';
import { LedgerModule } from './ledger.module.js';

export interface LedgerApiOptions {
  readonly config: SharedLedgerConfig;
  /** The secret that callers must present. */
  readonly token: InternalToken;
}

/** Serves the shared ledger to other processes. Needs the same modules as `LedgerModule`. */
@Module({})
export class LedgerApiModule {
  static with({ config, token }: LedgerApiOptions): DynamicModule {
    return {
      module: LedgerApiModule,
      imports: [LedgerModule.shared(config)],
      controllers: [HoldsController, BooksController, AccountingController],
      providers: [{ provide: InternalToken, useValue: token }],
    };
  }
}

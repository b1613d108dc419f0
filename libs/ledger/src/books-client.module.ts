import { type DynamicModule, Module } from '@nestjs/common';
import { Books, Charges } from '@svc/contracts/ports';
import { closedAtEnd } from '@svc/runtime';
import type { z } from 'zod';
import { LedgerPorts } from './api/ledger-ports.js';
import type { booksClientConfig } from './ledger.config.js';

interface BooksClientOptions {
  readonly config: Readonly<z.infer<z.ZodObject<typeof booksClientConfig>>>;
  /** The secret shared by the processes of a deployment. */
  readonly token: string;
}

/** The books of another process, and its charges, for a process that settles no requests. */
@Module({})
export class BooksClientModule {
  static at({ config, token }: BooksClientOptions): DynamicModule {
    const { LEDGER_URL: url, LEDGER_WAIT_MS: waitMs } = config;
    return {
      module: BooksClientModule,
      providers: [
        { provide: LedgerPorts, useFactory: () => new LedgerPorts({ url, token, waitMs }) },
        closedAtEnd(LedgerPorts),
        { provide: Books, useFactory: ({ books }: LedgerPorts) => books, inject: [LedgerPorts] },
        { provide: Charges, useFactory: ({ charges }: LedgerPorts) => charges, inject: [LedgerPorts] },
      ],
      exports: [Books, Charges],
    };
  }
}

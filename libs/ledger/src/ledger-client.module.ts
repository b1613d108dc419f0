import { type DynamicModule, Module } from '@nestjs/common';
import { Accounting } from '@svc/contracts/accounting';
import { Books, Charges, Holds, Ledger, UsageHistory } from '@svc/contracts/ports';
import { closedAtEnd } from '@svc/runtime';
import { LedgerPorts } from './api/ledger-ports.js';
import type { LedgerClientConfig } from './ledger.config.js';
import { NOTHING_EARLIER, settling } from './ledger-providers.js';

export interface LedgerClientOptions {
  readonly config: LedgerClientConfig;
  /** The secret shared by the processes of a deployment. */
  readonly token: string;
}

/**
 * Client of a ledger in other processes. This process makes charges durable itself: in the event log, else
 * through those processes in the books, else in its own journal. Needs the global modules of events and
 * logging.
 */
@Module({})
export class LedgerClientModule {
  static at({ config, token }: LedgerClientOptions): DynamicModule {
    const { LEDGER_URL: url, LEDGER_WAIT_MS: waitMs } = config;
    const port = <Port>(
      provide: abstract new (...args: never[]) => Port,
      of: (ports: LedgerPorts) => Port,
    ) => ({ provide, useFactory: of, inject: [LedgerPorts] });
    return {
      module: LedgerClientModule,
      providers: [
        { provide: LedgerPorts, useFactory: () => new LedgerPorts({ url, token, waitMs }) },
        closedAtEnd(LedgerPorts),
        port(Holds, ({ holds }) => holds),
        port(Charges, ({ charges }) => charges),
        port(Accounting, ({ accounting }) => accounting),
        port(Books, ({ books }) => books),
        port(UsageHistory, ({ history }) => history),
        ...settling(config),
        NOTHING_EARLIER,
      ],
      exports: [Ledger, Accounting, Books, Charges, UsageHistory],
    };
  }
}

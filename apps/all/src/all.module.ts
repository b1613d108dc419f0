import { type DynamicModule, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Catalog, CatalogModule, type Characters, CharactersModule } from '@svc/catalog';
import { EventStrategy, EventsModule } from '@svc/events';
import { DrainsModule, GatewayModule, type GatewaySettings, privateHosts } from '@svc/gateway';
import { type LedgerConfig, LedgerModule } from '@svc/ledger';
import { GuardedFetchModule } from '@svc/guarded-fetch';
import { JobsModule } from '@svc/jobs';
import { type ImagesConfig, ImagesModule } from '@svc/media';
import { LimitLogModule, LimiterModule } from '@svc/limiter';
import { type MediaJobsConfig, MediaJobsModule, type MediaStore } from '@svc/media-jobs';
import { type PaymentsConfig, PaymentsModule, type RailKind } from '@svc/payments';
import { RetrievalModule, type RetrievalSettings } from '@svc/retrieval';
import { RouterModule, type RouterSettings } from '@svc/router';
import type { Logger } from '@svc/runtime';
import { StorageModule } from '@svc/storage';

export interface AllParts {
  readonly databaseUrl: string;
  readonly catalog: Catalog;
  readonly characters: Characters;
  readonly logger: Logger;
  readonly gateway: GatewaySettings;
  readonly router: RouterSettings;
  readonly ledger: LedgerConfig;
  readonly retrieval: RetrievalSettings;
  readonly images: ImagesConfig;
  readonly payments: { readonly config: PaymentsConfig; readonly rails: readonly RailKind[] };
  readonly mediaJobs: { readonly config: MediaJobsConfig; readonly files: MediaStore };
}

/** Connects the services to each other in this process. */
@Module({})
export class AllModule {
  static with(parts: AllParts): DynamicModule {
    const ledger = LedgerModule.with(parts.ledger);
    const router = RouterModule.with(parts.router);
    return {
      module: AllModule,
      imports: [
        CatalogModule.of(parts.catalog),
        CharactersModule.of(parts.characters),
        StorageModule.at({ url: parts.databaseUrl, logger: parts.logger }),
        EventsModule.postgres({ url: parts.databaseUrl, logger: parts.logger, isAlone: true }),
        JobsModule.postgres({ url: parts.databaseUrl }),
        ImagesModule.with(parts.images),
        GuardedFetchModule.with({ allowPrivateHosts: privateHosts(parts.gateway.config) }),
        DrainsModule.with(),
        GatewayModule.with(parts.gateway, [
          ledger,
          LimitLogModule,
          LimiterModule,
          PaymentsModule.with(parts.payments.config, ledger, parts.payments.rails),
          RetrievalModule.with(parts.retrieval),
          router,
          MediaJobsModule.with(parts.mediaJobs, [ledger, router]),
        ]),
      ],
    };
  }

  /** Delivers the events of the event log to the services. */
  static readonly events = (app: NestFastifyApplication): EventStrategy =>
    app.get(EventStrategy, { strict: false });
}

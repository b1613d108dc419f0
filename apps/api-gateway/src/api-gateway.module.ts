import { type DynamicModule, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Catalog, CatalogModule, type Characters, CharactersModule } from '@svc/catalog';
import { EventStrategy, EventsModule, kafkaConnection } from '@svc/events';
import { DrainsModule, GatewayModule, privateHosts } from '@svc/gateway';
import { GuardedFetchModule } from '@svc/guarded-fetch';
import { JobsModule } from '@svc/jobs';
import { LedgerClientModule } from '@svc/ledger';
import { LimitLogModule, LimiterClientModule } from '@svc/limiter';
import { ImagesModule } from '@svc/media';
import { MediaJobsClientModule } from '@svc/media-jobs';
import { PaymentsClientModule } from '@svc/payments';
import { RetrievalClientModule } from '@svc/retrieval';
import { RouterClientModule } from '@svc/router';
import { InternalToken, type Logger } from '@svc/runtime';
import { type Database, StorageModule } from '@svc/storage';
import type { ApiGatewayConfig } from './api-gateway.config.js';

export interface ApiGatewayParts {
  readonly config: ApiGatewayConfig;
  readonly catalog: Catalog;
  readonly characters: Characters;
  readonly database: Database;
  readonly logger: Logger;
}

/** Connects the gateway to the services in other processes. */
@Module({})
export class ApiGatewayModule {
  static with({ config, catalog, characters, database, logger }: ApiGatewayParts): DynamicModule {
    return {
      module: ApiGatewayModule,
      imports: [
        CatalogModule.of(catalog, { isShared: true }),
        CharactersModule.of(characters),
        StorageModule.of(database),
        EventsModule.kafka({ ...kafkaConnection(config), logger }),
        JobsModule.redis({ url: config.REDIS_URL }),
        ImagesModule.with(config),
        GuardedFetchModule.with({ allowPrivateHosts: privateHosts(config) }),
        DrainsModule.with({ isShared: true }),
        GatewayModule.with({ config, operatorToken: config.SVC_OPERATOR_TOKEN }, [
          LedgerClientModule.at({ config, token: config.LEDGER_TOKEN }),
          LimitLogModule,
          LimiterClientModule.at(limiterOptions(config)),
          MediaJobsClientModule.at({ config, token: config.MEDIA_JOBS_TOKEN ?? '' }),
          PaymentsClientModule.at({ config, token: config.PAYMENTS_TOKEN ?? '' }),
          RetrievalClientModule.at({ ...config, token: config.RETRIEVAL_TOKEN }),
          RouterClientModule.at({ ...config, token: config.ROUTER_TOKEN }),
        ]),
      ],
      // Routers and retrieval workers read the catalogue.
      providers: [
        {
          provide: InternalToken,
          useValue: new InternalToken(config.GATEWAY_TOKEN, config.GATEWAY_TOKEN_SECOND),
        },
      ],
    };
  }

  /** Delivers the events of the event log to the services. */
  static readonly events = (app: NestFastifyApplication): EventStrategy =>
    app.get(EventStrategy, { strict: false });
}

function limiterOptions(config: ApiGatewayConfig): Parameters<typeof LimiterClientModule.at>[0] {
  return {
    url: config.LIMITER_URL,
    token: config.LIMITER_TOKEN,
    waitMs: config.LIMITER_WAIT_MS,
    localShare: config.LIMITER_LOCAL_SHARE,
    leaseMs: config.LIMITER_LEASE_MS,
  };
}

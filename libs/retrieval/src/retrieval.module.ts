import { type DynamicModule, Module } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { Retrieval, WebPages, WebSearch } from '@svc/contracts/ports';
import { GuardedFetcher } from '@svc/guarded-fetch';
import { type Logger, RootLogger, closedAtEnd } from '@svc/runtime';
import { type RedisConnection, connectRedis } from '@svc/storage';
import { PageBrowser } from './browser/page-browser.js';
import { LocalRetrieval } from './local-retrieval.js';
import type { RetrievalConfig } from './retrieval.config.js';
import { LocalWebPages } from './pages/local-web-pages.js';
import { LocalWebSearch } from './search/local-web-search.js';

export interface RetrievalSettings extends RetrievalConfig {
  /** Returns the environment variable that a search provider's `apiKeyEnv` names. */
  readonly secret: (name: string) => string | undefined;
  /** The Redis in which processes share cached search results; without it each has its own cache. */
  readonly redisUrl?: string | undefined;
}

/**
 * Reads files in threads of this process, searches the web with the catalogue's providers, and reads pages.
 */
@Module({})
export class RetrievalModule {
  static with(settings: RetrievalSettings): DynamicModule {
    return {
      module: RetrievalModule,
      providers: [
        closedAtEnd(LocalRetrieval),
        closedAtEnd(LocalWebSearch),
        { provide: LocalRetrieval, useFactory: () => new LocalRetrieval(settings) },
        { provide: Retrieval, useExisting: LocalRetrieval },
        {
          provide: LocalWebSearch,
          useFactory: (catalog: Catalog, { log }: RootLogger) =>
            new LocalWebSearch({
              catalog,
              log,
              simulatorUrl: settings.RETRIEVAL_SIMULATOR_URL,
              secret: settings.secret,
              redis: redisOf(settings, log),
            }),
          inject: [Catalog, RootLogger],
        },
        { provide: WebSearch, useExisting: LocalWebSearch },
        {
          provide: WebPages,
          useFactory: (fetcher: GuardedFetcher, files: LocalRetrieval) =>
            new LocalWebPages(settings, {
              fetcher,
              files,
              reader: files,
              browser: browserOf(settings, fetcher),
            }),
          inject: [GuardedFetcher, LocalRetrieval],
        },
      ],
      exports: [Retrieval, WebSearch, WebPages],
    };
  }
}

function browserOf(settings: RetrievalSettings, fetcher: GuardedFetcher): PageBrowser | undefined {
  const { RETRIEVAL_BROWSER_URL: url, RETRIEVAL_BROWSER_SCRIPTS_MS: scriptsMs } = settings;
  if (url === undefined) return undefined;
  const totalBytes = settings.RETRIEVAL_PAGE_LIMIT_BYTES;
  return new PageBrowser(fetcher, { url, scriptsMs, bounds: { totalBytes, timeoutMs: scriptsMs } });
}

function redisOf({ redisUrl: url }: RetrievalSettings, logger: Logger): RedisConnection | undefined {
  return url === undefined ? undefined : connectRedis({ url, name: 'retrieval', logger });
}

import { type DynamicModule, Module } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { Retrieval, WebPages, WebSearch } from '@svc/contracts/ports';
import { InternalClient, closedAtEnd } from '@svc/runtime';
import { HttpRetrieval, type HttpRetrievalSettings } from './api/http-retrieval.js';
import { HttpWebPages } from './api/http-web-pages.js';
import { HttpWebSearch } from './api/http-web-search.js';

/** Another process reads files, and searches and reads the web. */
@Module({})
export class RetrievalClientModule {
  static at(settings: HttpRetrievalSettings): DynamicModule {
    return {
      module: RetrievalClientModule,
      providers: [
        closedAtEnd(InternalClient),
        {
          provide: InternalClient,
          useFactory: () => new InternalClient({ ...settings, url: settings.RETRIEVAL_URL }),
        },
        {
          provide: Retrieval,
          useFactory: (client: InternalClient) => new HttpRetrieval(settings, client),
          inject: [InternalClient],
        },
        {
          provide: WebSearch,
          useFactory: (client: InternalClient, catalog: Catalog) => new HttpWebSearch(client, catalog),
          inject: [InternalClient, Catalog],
        },
        {
          provide: WebPages,
          useFactory: (client: InternalClient) => new HttpWebPages(client, settings),
          inject: [InternalClient],
        },
      ],
      exports: [Retrieval, WebSearch, WebPages],
    };
  }
}

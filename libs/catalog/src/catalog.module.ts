import { type DynamicModule, Module } from '@nestjs/common';
import { Catalog } from './catalog.js';

/** Provides the catalogue of the process. */
@Module({})
export class CatalogModule {
  static of(catalog: Catalog): DynamicModule {
    return {
      module: CatalogModule,
      global: true,
      providers: [{ provide: Catalog, useValue: catalog }],
      exports: [Catalog],
    };
  }
}

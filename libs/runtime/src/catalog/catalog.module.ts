import { type DynamicModule, Module } from '@nestjs/common';
import { Catalog } from './catalog.js';

/** Gives every service the one catalogue of its process. */
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

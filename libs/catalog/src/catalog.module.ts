import { type DynamicModule, Module } from '@nestjs/common';
import { Catalog } from './catalog.js';
import { CatalogInForceController } from './operator-files.controller.js';

/** Provides the catalogue of the process. */
@Module({})
export class CatalogModule {
  static of(catalog: Catalog): DynamicModule {
    return {
      module: CatalogModule,
      global: true,
      controllers: [CatalogInForceController],
      providers: [{ provide: Catalog, useValue: catalog }],
      exports: [Catalog],
    };
  }
}

import { type DynamicModule, Module } from '@nestjs/common';
import { Catalog } from './catalog.js';
import {
  CatalogChecksController,
  CatalogInForceController,
  SharedCatalogController,
} from './operator-files.controller.js';

/** Provides the catalogue of the process. */
@Module({})
export class CatalogModule {
  /** `isShared`: whether other processes may read it; needs the internal token. */
  static of(catalog: Catalog, { isShared = false } = {}): DynamicModule {
    return {
      module: CatalogModule,
      global: true,
      controllers: [
        CatalogChecksController,
        CatalogInForceController,
        ...(isShared ? [SharedCatalogController] : []),
      ],
      providers: [{ provide: Catalog, useValue: catalog }],
      exports: [Catalog],
    };
  }
}

import { type DynamicModule, Module } from '@nestjs/common';
import { Drains } from '@svc/contracts/inference';
import { DrainStore } from './drain.store.js';
import { SharedDrainsController } from './shared-drains.controller.js';
import { StoredDrains } from './stored-drains.js';

/** The backends that operators have taken out of service. */
@Module({})
export class DrainsModule {
  /** `isShared`: whether routers of other processes may read them; needs the internal token. */
  static with({ isShared = false } = {}): DynamicModule {
    return {
      module: DrainsModule,
      global: true,
      controllers: isShared ? [SharedDrainsController] : [],
      providers: [DrainStore, StoredDrains, { provide: Drains, useExisting: StoredDrains }],
      exports: [DrainStore, StoredDrains, Drains],
    };
  }
}

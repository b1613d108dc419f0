import { type DynamicModule, Module } from '@nestjs/common';
import { GuardedFetcher, type GuardedFetchSettings } from './guarded-fetch.js';

/** Provides the guarded fetcher of the application. */
@Module({})
export class GuardedFetchModule {
  static with(settings: GuardedFetchSettings): DynamicModule {
    return {
      module: GuardedFetchModule,
      global: true,
      providers: [{ provide: GuardedFetcher, useFactory: () => new GuardedFetcher(settings) }],
      exports: [GuardedFetcher],
    };
  }
}

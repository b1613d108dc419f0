import { type DynamicModule, Module } from '@nestjs/common';
import { InternalToken } from '@svc/runtime';
import { RetrievalController } from './api/retrieval.controller.js';
import { WebController } from './api/web.controller.js';
import { RetrievalModule, type RetrievalSettings } from './retrieval.module.js';

/** Reads files, and searches and reads the web, for other processes. */
@Module({})
export class RetrievalApiModule {
  /** Callers must send `token`. */
  static with(settings: RetrievalSettings, token: InternalToken): DynamicModule {
    return {
      module: RetrievalApiModule,
      imports: [RetrievalModule.with(settings)],
      controllers: [RetrievalController, WebController],
      providers: [{ provide: InternalToken, useValue: token }],
    };
  }
}

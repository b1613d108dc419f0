import { type DynamicModule, Module } from '@nestjs/common';
import { Jobs } from '@svc/contracts/messages';
import { BullJobs } from './bull-jobs.js';
import { BullWorkers } from './bull-workers.js';
import { JobWorkers } from './job-workers.js';
import { JobsSettings } from './jobs.config.js';

export interface JobsConfig {
  readonly url: string;
  /** How long after the start workers begin, so as not to slow it down; default: 500 ms. */
  readonly startAfterMs?: number;
}

/** Provides the queue system of the application. Requires the global logging module. */
@Module({})
export class JobsModule {
  /** In BullMQ's own tables, in the schema `jobs`. */
  static postgres(config: JobsConfig): DynamicModule {
    return moduleOf(config, 'postgres');
  }

  /** In Redis, which must not evict keys. */
  static redis(config: JobsConfig): DynamicModule {
    return moduleOf(config, 'redis');
  }
}

function moduleOf({ url, ...config }: JobsConfig, kind: 'postgres' | 'redis'): DynamicModule {
  return {
    module: JobsModule,
    global: true,
    providers: [
      { provide: JobsSettings, useValue: { backend: { kind, url }, ...config } satisfies JobsSettings },
      { provide: Jobs, useClass: BullJobs },
      { provide: JobWorkers, useClass: BullWorkers },
    ],
    exports: [Jobs, JobWorkers],
  };
}

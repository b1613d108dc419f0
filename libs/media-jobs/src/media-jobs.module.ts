import {
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Charges, FileBlocks, MediaJobs } from '@svc/contracts/ports';
import { BackendJobs } from '@svc/contracts/inference';
import { RootLogger } from '@svc/runtime';
import { Database } from '@svc/storage';
import { LocalFileBlocks } from './files/local-file-blocks.js';
import type { MediaStore } from './files/media-store.js';
import { LocalMediaJobs } from './local-media-jobs.js';
import type { MediaJobsConfig } from './media-jobs.config.js';
import { JobStore } from './records/job.store.js';
import { JobRunner } from './steps/job-runner.js';
import { JobSteps } from './steps/job-steps.js';

export interface MediaJobsOptions {
  readonly config: MediaJobsConfig;
  readonly files: MediaStore;
}

/** Jobs that make media. Needs the global modules of storage and logging. */
@Module({})
export class MediaJobsModule {
  /** Takes jobs and does them; `neighbours` provide `Charges` and `BackendJobs`. */
  static with(options: MediaJobsOptions, neighbours: DynamicModule[]): DynamicModule {
    const { config, files } = options;
    return {
      module: MediaJobsModule,
      imports: neighbours,
      providers: [
        {
          provide: StepPorts,
          useFactory: (backends: BackendJobs, charges: Charges) => new StepPorts(backends, charges),
          inject: [BackendJobs, Charges],
        },
        {
          provide: JobRunner,
          useFactory: (database: Database, ports: StepPorts, { log }: RootLogger) => {
            const store = new JobStore(database);
            const limitBytes = config.MEDIA_RESULT_LIMIT_BYTES;
            const { backends, charges } = ports;
            const now = (): Date => new Date();
            const steps = new JobSteps({ store, files, backends, charges, log, now, limitBytes });
            return new JobRunner({ store, log, steps });
          },
          inject: [Database, StepPorts, RootLogger],
        },
        {
          provide: MediaJobs,
          useFactory: (database: Database, runner: JobRunner) =>
            portOf(options, database, (id) => runner.take(id)),
          inject: [Database, JobRunner],
        },
        { provide: FileBlocks, useValue: new LocalFileBlocks(files) },
        RunnerTimes,
      ],
      exports: [MediaJobs, FileBlocks],
    };
  }
}

function portOf(
  { config, files }: MediaJobsOptions,
  database: Database,
  onDue: (id: string) => void,
): MediaJobs {
  return new LocalMediaJobs({ store: new JobStore(database), files, config, now: () => new Date(), onDue });
}

/** What steps call in other services. */
class StepPorts {
  constructor(
    readonly backends: BackendJobs,
    readonly charges: Charges,
  ) {}
}

/** Works on jobs while the application runs. */
class RunnerTimes implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(@Inject(JobRunner) private readonly runner: JobRunner) {}

  onApplicationBootstrap(): void {
    this.runner.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.runner.stop();
  }
}

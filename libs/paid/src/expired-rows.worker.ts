import { Injectable, type OnModuleInit } from '@nestjs/common';
import { deleteExpired } from '@svc/contracts/messages';
import { JobWorkers } from '@svc/jobs';
import { ExpiredRowsStore } from './expired-rows.store.js';

const EVERY_MINUTE = '* * * * *';

/** Deletes expired rows, in one process for all gateways. */
@Injectable()
export class ExpiredRowsWorker implements OnModuleInit {
  constructor(
    private readonly rows: ExpiredRowsStore,
    private readonly workers: JobWorkers,
  ) {}

  onModuleInit(): void {
    const work = async (_payload: object, { signal }: { signal: AbortSignal }): Promise<void> => {
      await this.rows.delete(signal);
    };
    this.workers.work(deleteExpired, work, { payload: {}, cron: EVERY_MINUTE });
  }
}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import { notifyOfExpiry } from '@svc/contracts/messages';
import { JobWorkers } from '@svc/jobs';
import { ExpiringKeysStore } from './expiring-keys.store.js';

const EVERY_TEN_MINUTES = '*/10 * * * *';

/** Notifies of keys that expire soon, in one process for all gateways. */
@Injectable()
export class ExpiringKeysWorker implements OnModuleInit {
  constructor(
    private readonly keys: ExpiringKeysStore,
    private readonly workers: JobWorkers,
  ) {}

  onModuleInit(): void {
    const times = { payload: {}, cron: EVERY_TEN_MINUTES, atStart: true };
    this.workers.work(notifyOfExpiry, () => this.keys.notify(), times);
  }
}

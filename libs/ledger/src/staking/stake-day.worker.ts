import { Injectable, type OnModuleInit } from '@nestjs/common';
import { setStakedDiem } from '@svc/contracts';
import { JobWorkers } from '@svc/jobs';
import { Staking } from './staking.js';

const MIDNIGHT = '0 0 * * *';

/** Begins each day, and catches up at the start of a process. */
@Injectable()
export class StakeDayWorker implements OnModuleInit {
  constructor(
    private readonly staking: Staking,
    private readonly workers: JobWorkers,
  ) {}

  onModuleInit(): void {
    this.workers.work(setStakedDiem, (_payload, run) => this.staking.setDay(run), {
      payload: {},
      cron: MIDNIGHT,
      atStart: true,
    });
  }
}

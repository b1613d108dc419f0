import { Injectable, type OnModuleInit } from '@nestjs/common';
import { setStakedDiem } from '@svc/contracts';
import { JobWorkers } from '@svc/jobs';
import { Staking } from './staking.js';

/**
 * At midnight in UTC, and again: the job of a midnight may be lost with its Redis, or fail for good. Where the day is set
 * already, one question says so.
 */
const EVERY_TEN_MINUTES = '*/10 * * * *';

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
      cron: EVERY_TEN_MINUTES,
      atStart: true,
    });
  }
}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import { setStakedDiem } from '@svc/contracts/messages';
import { JobWorkers } from '@svc/jobs';
import { Staking } from './staking.js';

/**
 * In UTC, from midnight on. It repeats because the job of a midnight may be lost with its Redis or fail
 * permanently. If the day is already set, a run costs one query.
 */
const EVERY_TEN_MINUTES = '*/10 * * * *';

/** Starts each day's run, and catches up when a process starts. */
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

import { once } from 'node:events';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Readiness, RootLogger, within } from '@svc/runtime';
import { connectRedis } from '@svc/storage';
import { BUCKETS, HoldSteps, bucketOf } from './hold-steps.js';

const PART = 'redis';
/** Interval and timeout of the Redis probe. */
const PROBE_EVERY_MS = 1_000;
const PROBE_MS = 1_000;
/** Buckets checked with each probe, because some accounts are not used for a long time. */
const LOOKED_AT = 16;
/** How long a start waits for the first connection. */
const CONNECT_MS = 2_000;

/** The address of the Redis that stores the holds. */
export abstract class HoldAddress {
  abstract readonly redisUrl: string;
}

/** The Redis connection of the hold book. Without Redis nothing can be held, and the process is not ready. */
@Injectable()
export class HoldConnection implements OnModuleInit, OnApplicationShutdown {
  readonly steps: HoldSteps;
  readonly log: RootLogger['log'];
  private timer: NodeJS.Timeout | undefined;
  private nextBucket = 0;

  constructor(
    { redisUrl: url }: HoldAddress,
    private readonly readiness: Readiness,
    { log }: RootLogger,
  ) {
    this.log = log;
    this.steps = new HoldSteps(connectRedis({ url, name: 'ledger', logger: log }));
  }

  async onModuleInit(): Promise<void> {
    const { redis } = this.steps;
    // Until the first connection, every step would be rejected at once. If it fails, the probe reports that.
    if (redis.status !== 'ready') await within(CONNECT_MS, once(redis, 'ready')).catch(() => undefined);
    redis.on('ready', () => void this.lookAt(BUCKETS));
    await Promise.all([this.probe(), within(CONNECT_MS, this.lookAt(BUCKETS)).catch(() => undefined)]);
    // Failures are reported through readiness.
    this.timer = setInterval(() => void this.probe(), PROBE_EVERY_MS).unref();
  }

  /** Disconnects last: postings update the hold book until the end. */
  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.steps.redis.disconnect();
  }

  private async probe(): Promise<void> {
    // A failed check is repeated in the next round.
    void this.lookAt(LOOKED_AT);
    try {
      await within(PROBE_MS, this.steps.mark(bucketOf('')));
      this.readiness.report(PART);
    } catch (error) {
      this.readiness.report(PART, error instanceof Error ? error.message : String(error));
    }
  }

  /** Reads the marks of the next buckets, which removes those that another server made. Never rejects. */
  private async lookAt(buckets: number): Promise<void> {
    const numbers = Array.from({ length: buckets }, (_, index) => (this.nextBucket + index) % BUCKETS);
    this.nextBucket = (this.nextBucket + buckets) % BUCKETS;
    await Promise.allSettled(numbers.map((bucket) => this.steps.mark(bucket)));
  }
}

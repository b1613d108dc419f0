import { once } from 'node:events';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Readiness, RootLogger, within } from '@svc/runtime';
import { connectRedis } from '@svc/storage';
import { BUCKETS, HoldSteps, bucketOf } from './hold-steps.js';

const PART = 'redis';
/** How often Redis is asked whether it is there, and how long it may take to say so. */
const PROBE_EVERY_MS = 1_000;
const PROBE_MS = 1_000;
/** Buckets that are looked at with each probe: nobody asks for the accounts of some for long. */
const LOOKED_AT = 16;
/** A start waits so long for the first connection. */
const CONNECT_MS = 2_000;

/** Where Redis is, with the holds. */
export abstract class HoldAddress {
  abstract readonly redisUrl: string;
}

/** The connection of the hold book. Without Redis nothing can be held, and the process is not ready. */
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
    // Before the first connection is made every step is refused at once. Where it can't be made, the probe says so.
    if (redis.status !== 'ready') await within(CONNECT_MS, once(redis, 'ready')).catch(() => undefined);
    redis.on('ready', () => void this.lookAt(BUCKETS));
    await Promise.all([this.probe(), within(CONNECT_MS, this.lookAt(BUCKETS)).catch(() => undefined)]);
    // What fails is told by the readiness.
    this.timer = setInterval(() => void this.probe(), PROBE_EVERY_MS).unref();
  }

  /** The last to go: postings tell the hold book until the end. */
  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.steps.redis.disconnect();
  }

  private async probe(): Promise<void> {
    // What can't be asked is asked in the next round.
    void this.lookAt(LOOKED_AT);
    try {
      await within(PROBE_MS, this.steps.mark(bucketOf('')));
      this.readiness.report(PART);
    } catch (error) {
      this.readiness.report(PART, error instanceof Error ? error.message : String(error));
    }
  }

  /** Asks for the marks of the next buckets, so that those of a server that is another now are removed. Never rejects. */
  private async lookAt(buckets: number): Promise<void> {
    const asked = Array.from({ length: buckets }, (_, index) => (this.nextBucket + index) % BUCKETS);
    this.nextBucket = (this.nextBucket + buckets) % BUCKETS;
    await Promise.allSettled(asked.map((bucket) => this.steps.mark(bucket)));
  }
}

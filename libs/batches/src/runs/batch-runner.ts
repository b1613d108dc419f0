import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { FileBlocks } from '@svc/contracts/ports';
import { KeyStore } from '@svc/identity/accounts';
import { GatewaySettings } from '@svc/paid';
import { type Pause, RootLogger, StepLoop, within } from '@svc/runtime';
import { batches } from '@svc/telemetry';
import { LineCalls } from '../lines/line-calls.js';
import { BatchStore } from '../records/batch.store.js';
import { ResultStore } from '../records/result.store.js';
import { BatchRun, LEASE_MS } from './batch-run.js';

/**
 * How often a process with room looks for the batches of others, after a pause of a random part of it. Of its
 * own it learns at once.
 */
const LOOK_MS = 15_000;

/** After a look that failed. */
const AGAIN_MS = 2_000;

/** How long lines under way may take when the process stops; another process sends them again. */
const STOP_MS = 5_000;

/** The most batches of an account that run at once, over all processes. */
const RUNS_PER_ACCOUNT = 2;

const DAY_SECONDS = 86_400;

/** Takes batches and works on them, next to what the process serves. */
@Injectable()
export class BatchRunner implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly runs = new Map<BatchRun, Promise<void>>();
  private readonly loop = new StepLoop({ step: () => this.look(), recover: (error) => this.recover(error) });

  private endRunning: () => void = () => undefined;

  constructor(
    private readonly batches: BatchStore,
    private readonly results: ResultStore,
    private readonly blocks: FileBlocks,
    private readonly keys: KeyStore,
    private readonly calls: LineCalls,
    private readonly settings: GatewaySettings,
    private readonly logger: RootLogger,
  ) {}

  onApplicationBootstrap(): void {
    this.endRunning = batches.running.observe(() => [[this.runs.size]]);
    if (this.settings.config.GATEWAY_BATCHES_AT_ONCE > 0) this.loop.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.endRunning();
    await this.loop.stop();
    for (const run of this.runs.keys()) run.leave();
    await within(STOP_MS, Promise.all(this.runs.values())).catch(() => undefined);
  }

  /** Called when there may be something to do: a batch that is new or cancelled, or room for one. */
  wake(): void {
    this.loop.wake();
    for (const run of this.runs.keys()) run.look();
  }

  private async look(): Promise<Pause> {
    const { GATEWAY_BATCHES_AT_ONCE: most } = this.settings.config;
    // A batch that is cancelled before it has begun does not wait for others.
    const isOnlyCancelled = this.runs.size >= most;
    const hasBegun = this.runs.size < 2 * most && (await this.begin(isOnlyCancelled));
    return { idleMs: hasBegun ? 0 : LOOK_MS * (0.5 + Math.random() / 2) };
  }

  private recover(error: unknown): number {
    this.logger.log.warn({ err: error }, 'batches could not be looked for');
    return AGAIN_MS;
  }

  /** Whether there was a batch. */
  private async begin(isOnlyCancelled: boolean): Promise<boolean> {
    const batch = await this.batches.lease(LEASE_MS, { runsPerAccount: RUNS_PER_ACCOUNT, isOnlyCancelled });
    if (!batch) return false;
    const { config } = this.settings;
    const run = new BatchRun(batch, {
      batches: this.batches,
      results: this.results,
      blocks: this.blocks,
      keys: this.keys,
      calls: this.calls,
      log: this.logger.log,
      linesInFlight: config.GATEWAY_BATCH_LINES_IN_FLIGHT,
      keptSeconds: config.GATEWAY_FILE_RETENTION_DAYS * DAY_SECONDS,
    });
    const work = run.run().then((hasEnded) => {
      this.runs.delete(run);
      // One that could not be continued is not taken again at once.
      if (hasEnded) this.wake();
    });
    this.runs.set(run, work);
    return true;
  }
}

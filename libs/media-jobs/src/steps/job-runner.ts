import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaKind } from '@svc/contracts/ports';
import { type Logger, within } from '@svc/runtime';
import { mediaJobs } from '@svc/telemetry';
import type { JobStore, UnfinishedJobs, UnfinishedState } from '../records/job.store.js';
import type { JobSteps } from './job-steps.js';

/** While a job is unfinished, how often to look for due jobs of others, such as killed processes. */
const SWEEP_MS = 2_000;
/** The most jobs that a process works on at the same time. */
const AT_ONCE = 32;
/** A later step is left to the sweep. */
const TIMER_MS = 60_000;
const COUNT_EVERY_MS = 15_000;
/** An interrupted step continues in the next run of a process. */
const STOP_MS = 3_000;

const KINDS: readonly MediaKind[] = ['video', 'music'];
const STATES: readonly UnfinishedState[] = [
  'held',
  'queued',
  'submitting',
  'running',
  'storing',
  'refunding',
];

export interface JobRunnerParts {
  readonly steps: JobSteps;
  readonly store: JobStore;
  readonly log: Logger;
}

/** Takes the steps of jobs when they are due. Any number of processes may do so. */
export class JobRunner {
  private readonly stopping = new AbortController();
  private readonly running = new Map<string, Promise<void>>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private unfinished: readonly UnfinishedJobs[] = [];
  private ends: readonly (() => void)[] = [];
  private sweeping: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: JobRunnerParts) {}

  start(): void {
    this.ends = [
      mediaJobs.unfinished.observe(() =>
        KINDS.flatMap((kind) => STATES.map((state) => [this.countOf(kind, state), kind, state])),
      ),
      mediaJobs.oldest.observe(() => this.mostOf(({ ageSeconds }) => ageSeconds)),
      mediaJobs.overdue.observe(() => this.mostOf(({ overdueSeconds }) => overdueSeconds)),
    ];
    this.sweeping = Promise.all([
      this.every(
        () => COUNT_EVERY_MS,
        () => this.count(),
      ),
      this.every(
        () => (this.unfinished.length > 0 ? SWEEP_MS : COUNT_EVERY_MS),
        () => this.sweep(),
      ),
    ]);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    for (const end of this.ends) end();
    for (const timer of this.timers.values()) clearTimeout(timer);
    const ended = Promise.all([this.sweeping, ...this.running.values()]);
    await within(STOP_MS, ended).catch(() => undefined);
  }

  /** Works on a job, if there is room; otherwise the sweep finds it. */
  take(id: string): void {
    if (this.stopping.signal.aborted || this.running.has(id) || this.running.size >= AT_ONCE) return;
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    const work = this.work(id).finally(() => this.running.delete(id));
    this.running.set(id, work);
  }

  /** Takes steps until the next one is due later. Never rejects. */
  private async work(id: string): Promise<void> {
    const { signal } = this.stopping;
    try {
      for (;;) {
        const next = await this.parts.steps.step(id, signal);
        if (!next || signal.aborted) return;
        const waitMs = next.getTime() - Date.now();
        if (waitMs <= 0) continue;
        if (waitMs > TIMER_MS) return;
        const timer = setTimeout(() => {
          this.timers.delete(id);
          this.take(id);
        }, waitMs);
        this.timers.set(id, timer.unref());
        return;
      }
    } catch (error) {
      if (!signal.aborted) this.parts.log.warn({ job: id, error: String(error) }, 'a step of a job failed');
    }
  }

  private async sweep(): Promise<void> {
    for (const id of await this.parts.store.due(new Date(), AT_ONCE)) this.take(id);
  }

  private async count(): Promise<void> {
    this.unfinished = await this.parts.store.unfinished(new Date());
  }

  private countOf(kind: MediaKind, state: UnfinishedState): number {
    return this.unfinished.find((jobs) => jobs.kind === kind && jobs.state === state)?.count ?? 0;
  }

  /** The most seconds of each kind, zero if it has no jobs. */
  private mostOf(seconds: (jobs: UnfinishedJobs) => number): [number, string][] {
    return KINDS.map((kind) => {
      const ofKind = this.unfinished.filter((jobs) => jobs.kind === kind);
      return [Math.max(0, ...ofKind.map(seconds)), kind];
    });
  }

  /** Never rejects: a failure is tried again the next time, and reported by the metrics of the database. */
  private async every(ms: () => number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await work().catch(() => undefined);
      await sleep(ms(), undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

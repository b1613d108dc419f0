import { randomUUID } from 'node:crypto';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { Admission, AdmitRequest, FailureBlock, LimitsState, UnderWay } from '@svc/contracts';
import { limits } from '@svc/telemetry';
import { LeasingLimiter, type LimiterLog, type SharedLimiter } from '../counting/leasing-limiter.js';
import { MemoryLimiter, type MemoryLimiterOptions } from '../counting/memory-limiter.js';
import { SharedLink } from './shared-link.js';

/** A start waits this long for the shared count. */
const OPEN_MS = 1_000;

/** Corrections that wait for the shared count to come back. Those that are too many lapse by themselves. */
const MAX_OWED = 10_000;

export interface FallbackOptions {
  /** Where the shared count is, for the log. */
  readonly to: string;
  /** Nobody waits longer for the shared count. */
  readonly waitMs: number;
  readonly local: MemoryLimiterOptions;
  readonly leaseMs: number;
}

interface Owed {
  readonly run: () => Promise<void>;
  /** Later it is of no use: the lease has lapsed. */
  readonly untilMs: number;
}

/**
 * Asks the shared count, and where that gives no answer in time decides alone, from a share of each limit. Never
 * rejects. What was admitted alone is settled alone.
 */
export class FallbackLimiter extends LeasingLimiter implements OnModuleInit, OnModuleDestroy {
  /** Under this name other processes hand back what this one counted alone. */
  private readonly id = randomUUID();
  private readonly link: SharedLink;
  private readonly local: MemoryLimiter;
  private readonly owed: Owed[] = [];
  private isPaying = false;
  private localAdmits = 0;
  private localRefusals = 0;
  private ends: readonly (() => void)[] = [];

  constructor(
    private readonly shared: SharedLimiter,
    private readonly options: FallbackOptions,
    log: LimiterLog,
  ) {
    super();
    this.local = new MemoryLimiter(options.local);
    this.link = new SharedLink({
      ...options,
      log,
      probe: () => shared.probe(),
      onBack: () => void this.payOwed(),
    });
  }

  async onModuleInit(): Promise<void> {
    this.ends = this.watch();
    await this.link.open(OPEN_MS);
  }

  async onModuleDestroy(): Promise<void> {
    for (const end of this.ends) end();
    this.link.close();
    await this.shared.close();
  }

  override async admit(request: AdmitRequest): Promise<Admission> {
    const answer = await this.link.ask(
      () => this.shared.admit(request),
      (late) => void this.giveBack(request, late),
    );
    if (answer) return answer.value;
    const admission = await this.local.admit(request);
    if (admission.admitted) this.localAdmits += 1;
    else this.localRefusals += 1;
    return { ...admission, countedBy: this.id };
  }

  override settle(request: AdmitRequest, admission: Admission, tokensUsed: number): Promise<void> {
    return this.isMine(admission)
      ? this.local.settle(request, admission, tokensUsed)
      : this.correct(() => this.shared.settle(request, admission, tokensUsed));
  }

  override release(request: AdmitRequest, admission: Admission): Promise<void> {
    return this.isMine(admission)
      ? this.local.release(request, admission)
      : this.correct(() => this.shared.release(request, admission));
  }

  override async renew(live: readonly UnderWay[]): Promise<void> {
    const { mine = [], others = [] } = Object.groupBy(live, (one) => (this.isMine(one) ? 'mine' : 'others'));
    await this.local.renew(mine);
    if (others.length > 0) await this.link.ask(() => this.shared.renew(others));
  }

  override async blocked(subject: string): Promise<FailureBlock> {
    const answer = await this.link.ask(() => this.shared.blocked(subject));
    return answer ? answer.value : this.local.blocked(subject);
  }

  override async failed(subject: string): Promise<FailureBlock> {
    const answer = await this.link.ask(() => this.shared.failed(subject));
    return answer ? answer.value : this.local.failed(subject);
  }

  override state(): LimitsState {
    return { ...this.link.state(), localAdmits: this.localAdmits, localRefusals: this.localRefusals };
  }

  /** Tells how it counts while it lives. */
  private watch(): readonly (() => void)[] {
    return [
      limits.alone.observe(() => [[this.link.state().mode === 'local' ? 1 : 0]]),
      limits.faults.observe(() => [[this.link.state().faults]]),
      limits.countedAlone.observe(() => [
        [this.localAdmits, 'admitted'],
        [this.localRefusals, 'refused'],
      ]),
    ];
  }

  private isMine({ countedBy }: { readonly countedBy?: string }): boolean {
    return countedBy === this.id;
  }

  private async correct(run: () => Promise<void>): Promise<void> {
    if ((await this.link.ask(run)) || this.owed.length >= MAX_OWED) return;
    this.owed.push({ run, untilMs: performance.now() + this.options.leaseMs });
  }

  /** Tells the shared count what it missed. A correction that it had heard changes nothing. */
  private async payOwed(): Promise<void> {
    if (this.isPaying) return;
    this.isPaying = true;
    for (let next = this.owed[0]; next; next = this.owed[0]) {
      if (next.untilMs > performance.now() && !(await this.link.ask(next.run))) break;
      this.owed.shift();
    }
    this.isPaying = false;
  }

  /** The shared count took a request that was meanwhile decided here. */
  private async giveBack(request: AdmitRequest, late: Admission): Promise<void> {
    if (late.admitted) await this.correct(() => this.shared.release(request, late));
  }
}

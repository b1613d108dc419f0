import { randomUUID } from 'node:crypto';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type {
  Admission,
  AdmitRequest,
  Amounts,
  FailureBlock,
  LimitsPeek,
  LimitsState,
  TakenLimits,
  UnderWay,
} from '@svc/contracts/ports';
import { within } from '@svc/runtime';
import { limits } from '@svc/telemetry';
import { MemoryLimiter, type MemoryLimiterOptions } from '../counting/memory-limiter.js';
import { LeasingLimiter, type LimiterLog } from '../counting/renewing-limiter.js';
import type { SharedLimiter } from '../counting/shared-limiter.js';
import { Bookings } from './bookings.js';
import { SharedLink } from './shared-link.js';

/** How long a start waits for the shared count. */
const OPEN_MS = 1_000;

/** Corrections kept until the shared count is back. Further ones are dropped; their leases lapse. */
const MAX_PENDING = 10_000;

export interface FallbackOptions {
  /** The address of the shared count, for the log. */
  readonly to: string;
  /**
   * How long a call waits for the shared count, not counting time in which this process was too busy to read.
   */
  readonly waitMs: number;
  readonly local: MemoryLimiterOptions;
  readonly leaseMs: number;
}

interface PendingCorrection {
  readonly run: () => Promise<void>;
  /** Useless after this: the lease has lapsed. */
  readonly untilMs: number;
}

/**
 * Calls the shared count, and decides from a local share of each limit if that does not respond in time.
 * Never rejects. A request admitted from the local share is counted there, and booked in the shared count as
 * soon as that responds again.
 */
export class FallbackLimiter extends LeasingLimiter implements OnModuleInit, OnModuleDestroy {
  /** Identifies this process in admissions that it decided alone. */
  private readonly id = randomUUID();
  private readonly link: SharedLink;
  private readonly local: MemoryLimiter;
  private readonly bookings: Bookings;
  private readonly pending: PendingCorrection[] = [];
  private isCorrecting = false;
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
    // Until the link is back, only bookings use it.
    this.bookings = new Bookings(
      async (request) =>
        this.link.isShared
          ? (await this.link.ask(() => shared.admit(request)))?.value
          : within(options.waitMs, shared.admit(request)),
      options.leaseMs,
    );
    this.link = new SharedLink({
      ...options,
      log,
      probe: () => shared.probe(),
      beforeBack: () => this.bookings.bookAll(),
      onBack: () => {
        this.bookOn();
        void this.sendPending();
      },
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
    const response = await this.link.ask(
      (isAwaited) => this.shared.admit(request, isAwaited),
      (late) => void this.giveBack(request, late),
    );
    return response ? response.value : this.admitAlone(request);
  }

  override settle(request: AdmitRequest, admission: Admission, used: Amounts): Promise<void> {
    const settleShared = (counted: Admission): Promise<void> =>
      this.correct(() => this.shared.settle(request, counted, used));
    if (!this.isMine(admission)) return settleShared(admission);
    this.local.settle(request, admission, used);
    return this.bookings.end(request.requestId, settleShared);
  }

  override release(request: AdmitRequest, admission: Admission): Promise<void> {
    const releaseShared = (counted: Admission): Promise<void> =>
      this.correct(() => this.shared.release(request, counted));
    if (!this.isMine(admission)) return releaseShared(admission);
    this.local.release(request, admission);
    return this.bookings.end(request.requestId, releaseShared);
  }

  /** What this process admitted alone is not counted yet, so its own counts would be wrong. */
  override async peek(peek: LimitsPeek): Promise<TakenLimits> {
    const response = await this.link.ask(() => this.shared.peek(peek));
    return response ? response.value : {};
  }

  override async renew(live: readonly UnderWay[]): Promise<void> {
    const { mine = [], others = [] } = Object.groupBy(live, (one) => (this.isMine(one) ? 'mine' : 'others'));
    await this.local.renew(mine);
    const booked = mine.flatMap(({ requestId, accountId }): UnderWay[] => {
      const admission = this.bookings.renew(requestId);
      if (!admission) return [];
      const { countedBy } = admission;
      return [{ requestId, accountId, ...(countedBy !== undefined && { countedBy }) }];
    });
    const shared = [...others, ...booked];
    if (shared.length > 0) await this.link.ask(() => this.shared.renew(shared));
  }

  override async blocked(subject: string): Promise<FailureBlock> {
    const response = await this.link.ask(() => this.shared.blocked(subject));
    return response ? response.value : this.local.blocked(subject);
  }

  override async failed(subject: string): Promise<FailureBlock> {
    const response = await this.link.ask(() => this.shared.failed(subject));
    return response ? response.value : this.local.failed(subject);
  }

  override state(): LimitsState {
    return { ...this.link.state(), localAdmits: this.localAdmits, localRefusals: this.localRefusals };
  }

  /** Reports metrics on how it counts. */
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

  private admitAlone(request: AdmitRequest): Admission {
    const admission = this.local.admit(request);
    if (admission.admitted) {
      this.localAdmits += 1;
      this.bookings.add(request, admission);
      this.bookOn();
    } else this.localRefusals += 1;
    return { ...admission, countedBy: this.id };
  }

  private bookOn(): void {
    // Never rejects: a failed booking is retried until its window is over.
    if (this.link.isShared) void this.bookings.bookOn(() => !this.link.isShared);
  }

  private async correct(run: () => Promise<void>): Promise<void> {
    if ((await this.link.ask(run)) || this.pending.length >= MAX_PENDING) return;
    this.pending.push({ run, untilMs: performance.now() + this.options.leaseMs });
  }

  /** Sends the corrections that the shared count missed. Repeating one has no effect. */
  private async sendPending(): Promise<void> {
    if (this.isCorrecting) return;
    this.isCorrecting = true;
    for (let next = this.pending[0]; next; next = this.pending[0]) {
      if (next.untilMs > performance.now() && !(await this.link.ask(next.run))) break;
      this.pending.shift();
    }
    this.isCorrecting = false;
  }

  /**
   * The shared count admitted a request after it had been decided here. If it was admitted here too, it is
   * already booked: the following booking finds it running. Otherwise it is released.
   */
  private async giveBack(request: AdmitRequest, late: Admission): Promise<void> {
    if (late.admitted && !this.bookings.has(request.requestId))
      await this.correct(() => this.shared.release(request, late));
  }
}

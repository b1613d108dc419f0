import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { RequestSteps, RootLogger, isFromClients, routeOf, type Incoming } from '@svc/runtime';
import { type FailedRequest, FailedRequestStore } from './failed-request.store.js';
import { subjectOf } from './failure-gate.js';

const FLUSH_MS = 2_000;
/** The most requests stored by one flush, and of one caller or network among them. */
const STORED_MAX = 200;
const STORED_OF_ONE = 20;
/** The most of callers without valid credentials, who may be many and send anything. */
const STORED_UNKNOWN = 50;
const UNKNOWN = 'unknown';
/** Models are names of the catalogue; this bounds whatever else a route may record. */
const MODEL_CHARS = 200;

/**
 * Records which requests were refused or failed, and why, so that an operator finds them by their id. Under
 * a flood it drops the rest, so that refusing a request stays cheap; the log has all of them.
 */
@Injectable()
export class FailedRequests implements OnModuleInit, BeforeApplicationShutdown {
  private waiting: FailedRequest[] = [];
  private readonly counts = new Map<string, number>();
  private flushing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly steps: RequestSteps,
    private readonly store: FailedRequestStore,
    private readonly logger: RootLogger,
  ) {}

  onModuleInit(): void {
    this.steps.whenEnded((request, status) => this.ended(request, status));
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    await this.flush();
  }

  /** Stores what waits, in one statement. A failure is logged. */
  flush(): Promise<void> {
    return (this.flushing = this.flushing.then(() => this.write()));
  }

  private ended(request: Incoming, status: number): void {
    const { record } = request;
    const { problem, ended = null } = record;
    if ((status < 400 && !problem && ended === null) || !isFromClients(request)) return;
    const isKnown = record.accountId !== undefined;
    if (!this.hasRoom(isKnown ? subjectOf(request) : UNKNOWN, isKnown ? STORED_OF_ONE : STORED_UNKNOWN))
      return;
    this.add({
      requestId: request.id,
      at: new Date(),
      route: routeOf(request)?.operationId ?? 'none',
      status,
      code: problem?.code ?? null,
      ended,
      accountId: record.accountId ?? null,
      keyId: record.keyId ?? null,
      model: record.model?.slice(0, MODEL_CHARS) ?? null,
      durationMs: Math.round(performance.now() - record.startedMs),
    });
  }

  private add(request: FailedRequest): void {
    this.waiting.push(request);
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref(); // It never rejects.
  }

  /** Whether there is room for one more of this subject before the next flush. */
  private hasRoom(subject: string, most: number): boolean {
    const count = this.counts.get(subject) ?? 0;
    if (count >= most || this.waiting.length >= STORED_MAX) return false;
    this.counts.set(subject, count + 1);
    return true;
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const requests = this.waiting;
    this.waiting = [];
    this.counts.clear();
    if (requests.length === 0) return;
    try {
      await this.store.add(requests);
    } catch (error) {
      this.logger.log.warn(
        { requests: requests.length, error: String(error) },
        'failed requests could not be recorded',
      );
    }
  }
}

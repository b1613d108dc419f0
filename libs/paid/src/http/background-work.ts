import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { PassingSet, type RequestRecord, RootLogger, type WorkUnderWay, within } from '@svc/runtime';

/**
 * How long a stopping process waits for background work, such as settling responses of disconnected clients.
 */
const END_ON_STOP_MS = 5_000;

/** The most pieces of background work. Beyond this number, responses wait for their own. */
const AT_ONCE = 10_000;

/** The work of a request. A promise is made only for who waits for it, which is rare. */
class RequestWork implements WorkUnderWay {
  private waited: PromiseWithResolvers<void> | undefined;

  constructor(
    private readonly record: RequestRecord,
    private readonly all: PassingSet<RequestWork>,
  ) {
    record.underWay = this;
    all.add(this);
  }

  get over(): Promise<void> {
    this.waited ??= Promise.withResolvers();
    return this.waited.promise;
  }

  end(): void {
    this.all.delete(this);
    this.record.underWay = undefined;
    this.waited?.resolve();
  }
}

/**
 * Work that no client waits for. It is bounded, its failures are logged, and a stopping process waits for it.
 */
@Injectable()
export class BackgroundWork implements BeforeApplicationShutdown {
  private readonly requests = new PassingSet<RequestWork>();
  private readonly underWay = new PassingSet<Promise<unknown>>();

  constructor(private readonly logger: RootLogger) {}

  /** Begins the work of a request, for which its log line and a stopping process wait until it ends. */
  begin(record: RequestRecord): { end(): void } {
    return new RequestWork(record, this.requests);
  }

  /** Makes a stopping process wait for a promise, and returns its result. */
  track<T>(work: Promise<T>): Promise<T> {
    this.underWay.add(work);
    return work.finally(() => void this.underWay.delete(work));
  }

  /**
   * Returns a promise only if too much is in progress, which resolves when the work is done. Failures are
   * logged, never thrown.
   */
  run(what: string, requestId: string, work: Promise<void> | undefined): Promise<void> | undefined {
    if (!work) return undefined;
    this.underWay.add(work);
    const logged = work.then(
      () => void this.underWay.delete(work),
      (error: unknown) => {
        this.underWay.delete(work);
        this.logger.log.error({ err: error, requestId }, `${what} failed`);
      },
    );
    return this.underWay.size > AT_ONCE ? logged : undefined;
  }

  async beforeApplicationShutdown(): Promise<void> {
    const all = [...this.underWay, ...Array.from(this.requests, ({ over }) => over)];
    await within(END_ON_STOP_MS, Promise.allSettled(all)).catch(() => undefined);
  }
}

import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { type RequestRecord, RootLogger, within } from '@svc/runtime';

/**
 * How long a stopping process waits for background work, such as settling responses of disconnected clients.
 */
const END_ON_STOP_MS = 5_000;

/** The most pieces of background work. Beyond this number, responses wait for their own. */
const AT_ONCE = 10_000;

/**
 * Work that no client waits for. It is bounded, its failures are logged, and a stopping process waits for it.
 */
@Injectable()
export class BackgroundWork implements BeforeApplicationShutdown {
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(private readonly logger: RootLogger) {}

  /**
   * Begins the work of a request, for which its log line and a stopping process wait. Call the returned
   * function when it has ended.
   */
  begin(record: RequestRecord): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.underWay.add(promise);
    record.underWay = promise;
    return () => {
      this.underWay.delete(promise);
      record.underWay = undefined;
      resolve();
    };
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
    await within(END_ON_STOP_MS, Promise.allSettled(this.underWay)).catch(() => undefined);
  }
}

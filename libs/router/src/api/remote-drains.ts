import { routes } from '@svc/api';
import { type DrainListener, Drains } from '@svc/contracts/inference';
import { type InternalClient, type Logger, RESPONSE_JSON_LIMITS, boundedJson } from '@svc/runtime';

const CALL_MS = 2_000;

/** The pause between two reads. */
const PAUSE_MS = 2_000;

const FAILURES_TO_LOG = 5;

/**
 * The drains that the gateways keep, read again and again: a gateway reaches one of several routers behind a
 * name, but each router reaches some gateway. While none responds, those that were read last count.
 */
export class RemoteDrains extends Drains {
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;
  private failures = 0;

  constructor(
    private readonly client: InternalClient,
    private readonly log: Logger,
    private readonly pauseMs = PAUSE_MS,
  ) {
    super();
  }

  override async follow(listener: DrainListener): Promise<() => void> {
    await this.read(listener);
    return () => {
      this.isOver = true;
      clearTimeout(this.timer);
    };
  }

  /** Never rejects. */
  private async read(listener: DrainListener): Promise<void> {
    const { method, path, reply, status: expected } = routes.readDrains;
    try {
      const { status, text } = await this.client.ask({ method, path, deadlineMs: CALL_MS, idempotent: true });
      if (status !== expected) throw new Error(`a gateway responded with ${status}`);
      listener(reply.parse(boundedJson(text, RESPONSE_JSON_LIMITS)).data);
      this.failures = 0;
    } catch (error) {
      this.failures += 1;
      // Gateways may start later.
      if (this.failures === FAILURES_TO_LOG)
        this.log.warn(
          { reason: String(error) },
          'the gateways do not show which backends are out of service',
        );
    }
    if (this.isOver) return;
    this.timer = setTimeout(() => void this.read(listener), this.pauseMs).unref();
  }
}

/** For a deployment without gateways: no backend is taken out of service. */
export class NoDrains extends Drains {
  override follow(): Promise<() => void> {
    return Promise.resolve(() => undefined);
  }
}

import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { FetchRefused, GuardedFetcher } from '@svc/guarded-fetch';
import { type Pause, RootLogger, StepLoop, within } from '@svc/runtime';
import {
  type Attempted,
  type DueDelivery,
  type LeasedEndpoint,
  WebhookDeliveryStore,
} from './delivery.store.js';
import { WebhookEndpointStore } from './endpoint.store.js';
import { WebhookSecrets, signatures } from './webhook-secrets.js';

/** The most endpoints to which a process delivers at the same time. */
const ENDPOINTS_AT_ONCE = 32;
/** The most deliveries to one endpoint at the same time. */
const DELIVERIES_AT_ONCE = 4;
const TIMEOUT_MS = 10_000;
/** A response's body is not used. */
const RESPONSE_BYTES = 65_536;
/** Longer than the attempts of a lease take. After a crash another process continues then. */
const LEASE_MS = 30_000;
/** Finds what other processes have added. */
const IDLE_MS = 15_000;
const SOON_MS = 100;
const AGAIN_MS = 5_000;
const STOP_MS = 3_000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The waits after each failed attempt: three days together. Source: Standard Webhooks. */
const WAITS_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

const GONE = 410;

/** A fetcher with the exceptions of webhooks: what clients may read is not what they may post to. */
export class WebhookFetcher extends GuardedFetcher {}

/**
 * Delivers what is due. Any number of processes may do so: each leases an endpoint, so that a slow one delays
 * no other, and what is due is a row until it was delivered.
 */
@Injectable()
export class WebhookDeliveries implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly running = new Set<Promise<void>>();
  private readonly loop = new StepLoop({ step: () => this.step(), recover: (error) => this.recover(error) });
  private sealAtMs = 0;

  constructor(
    private readonly store: WebhookDeliveryStore,
    private readonly endpoints: WebhookEndpointStore,
    private readonly secrets: WebhookSecrets,
    private readonly fetcher: WebhookFetcher,
    private readonly logger: RootLogger,
  ) {}

  onApplicationBootstrap(): void {
    if (this.secrets.areConfigured) this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort(new Error('the process stops'));
    await within(STOP_MS, this.stopped()).catch(() => undefined);
  }

  /** Signals that something is due. */
  wake(): void {
    this.loop.wake();
  }

  private async stopped(): Promise<void> {
    await this.loop.stop();
    await Promise.all(this.running);
  }

  private async step(): Promise<Pause> {
    if (this.secrets.areRotated) await this.sealAgain();
    return { idleMs: await this.sweep() };
  }

  private recover(error: unknown): number {
    this.logger.log.warn({ error: String(error) }, 'due webhooks could not be read');
    return AGAIN_MS;
  }

  /** Once an hour, since other processes may still use the earlier key. */
  private async sealAgain(): Promise<void> {
    if (performance.now() < this.sealAtMs) return;
    this.sealAtMs = performance.now() + HOUR_MS;
    await this.endpoints.sealAgain().catch((error: unknown) => {
      this.logger.log.error(
        { error: String(error) },
        'the secrets of webhooks could not be encrypted with the new key',
      );
    });
  }

  /** Begins to deliver, and returns when to look again. */
  private async sweep(): Promise<number> {
    const room = ENDPOINTS_AT_ONCE - this.running.size;
    if (room === 0) return IDLE_MS;
    for (const endpoint of await this.store.claim(room, LEASE_MS)) this.begin(endpoint);
    const idleMs = await this.store.idleMs();
    return Math.min(IDLE_MS, Math.max(SOON_MS, idleMs ?? IDLE_MS));
  }

  private begin(endpoint: LeasedEndpoint): void {
    const work = this.deliver(endpoint)
      .catch((error: unknown) => {
        this.logger.log.warn(
          { endpoint: endpoint.id, error: String(error) },
          'webhooks could not be delivered',
        );
      })
      .finally(() => {
        this.running.delete(work);
        this.wake();
      });
    this.running.add(work);
  }

  private async deliver(endpoint: LeasedEndpoint): Promise<void> {
    const due = await this.store.due(endpoint.id, DELIVERIES_AT_ONCE);
    const attempted = await Promise.all(due.map((delivery) => this.attempt(endpoint, delivery)));
    await this.store.finish(
      endpoint,
      attempted.flatMap((each) => each ?? []),
    );
  }

  /** Undefined if the process stops. */
  private async attempt(endpoint: LeasedEndpoint, delivery: DueDelivery): Promise<Attempted | undefined> {
    const { id, tries, url } = delivery;
    try {
      const { status } = await this.send(endpoint, delivery);
      return { id, state: 'delivered', status, fault: null, retryMs: null, isGone: false };
    } catch (error) {
      if (this.stopping.signal.aborted) return undefined;
      const { status = null } = error instanceof FetchRefused ? error : {};
      const fault = error instanceof FetchRefused ? error.message : 'The delivery could not be signed.';
      const isGone = status === GONE;
      const waitMs = isGone ? undefined : WAITS_MS[tries];
      // So that endpoints that failed together are not all retried together.
      const retryMs = waitMs === undefined ? null : waitMs * (1 + Math.random() / 10);
      const state = retryMs === null ? 'failed' : 'pending';
      // A place for one job ends nothing else.
      return { id, state, status, fault, retryMs, isGone: isGone && url === null };
    }
  }

  private send(
    endpoint: LeasedEndpoint,
    { event_id: id, body, url }: DueDelivery,
  ): Promise<{ status: number }> {
    const opened = [endpoint.secret, endpoint.earlier_secret ?? []]
      .flat()
      .map((sealed) => this.secrets.open(sealed, endpoint.id));
    const timestamp = Math.floor(Date.now() / 1_000);
    return this.fetcher.fetch(url ?? endpoint.url, {
      limitBytes: RESPONSE_BYTES,
      timeoutMs: TIMEOUT_MS,
      signal: this.stopping.signal,
      post: {
        body,
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signatures({ id, timestamp, body }, opened),
        },
      },
    });
  }
}

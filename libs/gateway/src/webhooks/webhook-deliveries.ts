import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { addressIn } from '@svc/api/webhooks';
import { FetchRefused, GuardedFetcher } from '@svc/guarded-fetch';
import { type Pause, RootLogger, StepLoop, within } from '@svc/runtime';
import { notices } from '@svc/telemetry';
import {
  type Attempted,
  type Channel,
  type DueDelivery,
  type LeasedEndpoint,
  WebhookDeliveryStore,
} from './delivery.store.js';
import { WebhookEndpointStore } from './endpoint.store.js';
import { MailNotices } from './mail-notices.js';
import { WebhookSecrets, signatures } from './webhook-secrets.js';

/** The most endpoints to which a process delivers at the same time. A slow mail server delays no webhooks. */
const AT_ONCE: Readonly<Record<Channel, number>> = { server: 32, mail: 4 };
/** The most deliveries to one endpoint at the same time. */
const DELIVERIES_AT_ONCE = 4;
/** The most events in a mail. */
const EVENTS_OF_MAIL = 50;
/** The wait after a mail before the next one to the same endpoint. */
const MAIL_PAUSE_MS = 60_000;
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
  private readonly running = { server: new Set<Promise<void>>(), mail: new Set<Promise<void>>() };
  private readonly loop = new StepLoop({ step: () => this.step(), recover: (error) => this.recover(error) });
  private sealAtMs = 0;

  constructor(
    private readonly store: WebhookDeliveryStore,
    private readonly endpoints: WebhookEndpointStore,
    private readonly secrets: WebhookSecrets,
    private readonly fetcher: WebhookFetcher,
    private readonly mails: MailNotices,
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
    await Promise.all([...this.running.server, ...this.running.mail]);
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
    const channels: readonly Channel[] = this.mails.areConfigured ? ['server', 'mail'] : ['server'];
    const idle = await Promise.all(channels.map((channel) => this.sweepChannel(channel)));
    return Math.max(SOON_MS, Math.min(IDLE_MS, ...idle));
  }

  private async sweepChannel(channel: Channel): Promise<number> {
    const room = AT_ONCE[channel] - this.running[channel].size;
    if (room === 0) return IDLE_MS;
    for (const endpoint of await this.store.claim(channel, room, LEASE_MS)) this.begin(channel, endpoint);
    return (await this.store.idleMs(channel)) ?? IDLE_MS;
  }

  private begin(channel: Channel, endpoint: LeasedEndpoint): void {
    const work = this.deliver(endpoint)
      .catch((error: unknown) => {
        this.logger.log.warn(
          { endpoint: endpoint.id, error: String(error) },
          'webhooks could not be delivered',
        );
      })
      .finally(() => {
        this.running[channel].delete(work);
        this.wake();
      });
    this.running[channel].add(work);
  }

  private async deliver(endpoint: LeasedEndpoint): Promise<void> {
    const address = addressIn(endpoint.url);
    if (address !== undefined) return this.mail(endpoint, address);
    const due = await this.store.due(endpoint.id, DELIVERIES_AT_ONCE);
    const ended = await Promise.all(due.map((delivery) => this.attempt(endpoint, delivery)));
    const attempted = ended.flatMap((each) => each ?? []);
    count('server', attempted);
    return this.store.finish(endpoint, attempted);
  }

  private async mail(endpoint: LeasedEndpoint, address: string): Promise<void> {
    const due = await this.store.due(endpoint.id, EVENTS_OF_MAIL);
    if (due.length === 0) return this.store.finish(endpoint, []);
    const { fault, ...outcome } = await this.mails.send(endpoint, { address, due }, this.stopping.signal);
    const attempted = due.map(({ id, tries }): Attempted => {
      if (fault === null) return { id, state: 'delivered', fault, retryMs: null, isGone: false, ...outcome };
      return { id, fault, ...nextTry(WAITS_MS[tries]), isGone: false, ...outcome };
    });
    count('mail', attempted);
    // Codes are bounded otherwise, and what follows them is awaited.
    return this.store.finish(endpoint, attempted, endpoint.unconfirmed ? 0 : MAIL_PAUSE_MS);
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
      const next = nextTry(isGone ? undefined : WAITS_MS[tries]);
      // A place for one job ends nothing else.
      return { id, status, fault, ...next, isGone: isGone && url === null };
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

function count(channel: Channel, attempted: readonly Attempted[]): void {
  for (const { state, isOurs = false } of attempted) {
    const failed = isOurs ? 'unsent' : 'refused';
    notices.attempts.add(1, channel, state === 'delivered' ? state : failed);
  }
}

/** Varied, so that endpoints that failed together are not all retried together. */
function nextTry(waitMs: number | undefined): Pick<Attempted, 'state' | 'retryMs'> {
  if (waitMs === undefined) return { state: 'failed', retryMs: null };
  return { state: 'pending', retryMs: waitMs * (1 + Math.random() / 10) };
}

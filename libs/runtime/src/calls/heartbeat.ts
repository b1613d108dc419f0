import { routes } from '@svc/api';
import { Client } from 'undici';
import { Exchange } from './exchange.js';

/**
 * Time is counted in turns of the event loop, so a process that was busy reads what has arrived before it
 * judges.
 */
export const TICK_MS = 100;

/**
 * A heartbeat is sent `PAUSE_TICKS` after the previous one ended, and counts as missed after
 * `DEADLINE_TICKS`.
 */
const PAUSE_TICKS = 5;
const DEADLINE_TICKS = 20;

/** Far beyond the deadline in ticks; these timeouts only release what an abandoned heartbeat left behind. */
const CONNECT_MS = 10_000;
const EXCHANGE_MS = 60_000;

const LIMIT_BYTES = 65_536;

/**
 * - `beating`: the address responded, or has not been polled yet.
 * - `refusing`: it closed the connection or accepted none. Calls in flight end by themselves, successfully if
 *   the process is only shutting down.
 * - `silent`: no response within the deadline, so the process hangs or is unreachable.
 */
export type Pulse = 'beating' | 'refusing' | 'silent';

/** Polls the health route of one address over a connection of its own. */
export class Heartbeat {
  pulse: Pulse = 'beating';
  private client: Client | undefined;
  private ticks = 0;
  private isUnderWay = false;

  constructor(private readonly origin: string) {}

  /** Must be called every `TICK_MS`. */
  tick(): void {
    this.ticks += 1;
    if (this.isUnderWay) {
      if (this.ticks > DEADLINE_TICKS) this.miss('silent');
    } else if (this.ticks >= PAUSE_TICKS) {
      this.client ??= new Client(this.origin, { connect: { timeout: CONNECT_MS } });
      void this.beat(this.client); // It never rejects.
    }
  }

  close(): void {
    const { client } = this;
    this.client = undefined;
    this.isUnderWay = false;
    this.ticks = 0;
    void client?.destroy().catch(() => undefined);
  }

  private async beat(client: Client): Promise<void> {
    this.isUnderWay = true;
    this.ticks = 0;
    const { path } = routes.healthz;
    const request = {
      method: 'GET',
      origin: this.origin,
      path,
      headers: {},
      pauseMs: 0,
      deadlineMs: EXCHANGE_MS,
    } as const;
    try {
      const exchange = await Exchange.start(client, request, { signal: undefined, onEnd: () => undefined });
      await exchange.beginning(LIMIT_BYTES);
      if (client !== this.client) return;
      this.pulse = 'beating';
      this.isUnderWay = false;
      this.ticks = 0;
    } catch {
      if (client === this.client) this.miss('refusing');
    }
  }

  /** The next heartbeat uses a new connection, because the old one may be the cause. */
  private miss(pulse: Pulse): void {
    this.pulse = pulse;
    this.close();
  }
}

import { routes } from '@svc/contracts';
import { Client } from 'undici';
import { Exchange } from './exchange.js';

/** Time is counted in turns of the event loop: a process that was busy itself reads what has arrived before it judges. */
export const TICK_MS = 100;

/** A heartbeat is sent this long after the previous one ended, and is missed after the second time. */
const PAUSE_TICKS = 5;
const DEADLINE_TICKS = 20;

/** Far beyond the deadline in ticks; these only release what an ended heartbeat has left behind. */
const CONNECT_MS = 10_000;
const EXCHANGE_MS = 60_000;

const LIMIT_BYTES = 65_536;

/**
 * - `beating`: it answered, or was not asked yet.
 * - `refusing`: it ended the connection or took none. Calls under way end by themselves, well where it is only stopping.
 * - `silent`: it said nothing within the deadline, so it hangs or is out of reach.
 */
export type Pulse = 'beating' | 'refusing' | 'silent';

/** Polls the health route of one address over a connection of its own. */
export class Heartbeat {
  pulse: Pulse = 'beating';
  private client: Client | undefined;
  private ticks = 0;
  private isUnderWay = false;

  constructor(private readonly origin: string) {}

  /** Expects to be called every `TICK_MS`. */
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

  /** The next heartbeat is sent over a new connection: the old one may be the fault. */
  private miss(pulse: Pulse): void {
    this.pulse = pulse;
    this.close();
  }
}

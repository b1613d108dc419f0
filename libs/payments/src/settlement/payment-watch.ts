import { setTimeout as sleep } from 'node:timers/promises';
import { payments } from '@svc/telemetry';
import type { OpenPayments, PaymentStore } from '../records/payment.store.js';
import type { Rail } from './rail.js';

/**
 * How often payments are counted and the node is called, so that its failure is noticed before the next
 * payment.
 */
const EVERY_MS = 15_000;

interface WatchParts {
  readonly store: PaymentStore;
  readonly rails: readonly Rail[];
}

/** Reports the state of a rail's node and signer. Never rejects: failed calls have their own metric. */
async function readChain({ name, chain, submission }: Rail): Promise<void> {
  const headTime = await chain.headTime().catch(() => undefined);
  if (headTime !== undefined) payments.chainTime.set(headTime, name);
  const affordable = await submission.affordable().catch(() => undefined);
  if (affordable !== undefined) payments.affordable.set(affordable, name);
}

/** Reports metrics on unfinished payments. */
export class PaymentWatch {
  private readonly stopping = new AbortController();
  private found: readonly OpenPayments[] = [];
  private polling: Promise<void> | undefined;
  private ends: readonly (() => void)[] = [];

  constructor(private readonly parts: WatchParts) {}

  start(): void {
    // So that the first payment shows as an increase.
    for (const { name } of this.parts.rails) {
      for (const state of ['CREDITED', 'FAILED']) payments.ended.with(name, state);
      payments.credited.with(name);
      payments.reversed.with(name);
    }
    this.ends = [
      payments.open.observe(() =>
        this.found.map(({ count, network, state }) => [count, this.nameOf(network), state]),
      ),
      payments.oldest.observe(() => this.oldest()),
    ];
    this.polling = this.poll();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    for (const end of this.ends) end();
    await this.polling;
  }

  private oldest(): [number, string][] {
    const byRail = new Map<string, number>();
    for (const { network, ageSeconds } of this.found) {
      const rail = this.nameOf(network);
      byRail.set(rail, Math.max(ageSeconds, byRail.get(rail) ?? 0));
    }
    return [...byRail].map(([rail, age]) => [age, rail]);
  }

  private nameOf(network: string): string {
    return this.parts.rails.find((rail) => rail.network === network)?.name ?? network;
  }

  /** Never rejects. Failed counts are omitted, and failed node calls are reported by their own metric. */
  private async poll(): Promise<void> {
    const { signal } = this.stopping;
    const { store, rails } = this.parts;
    const networks = rails.map(({ network }) => network);
    while (!signal.aborted) {
      [this.found] = await Promise.all([
        store.open(networks).catch(() => []),
        ...rails.map((rail) => readChain(rail)),
      ]);
      await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

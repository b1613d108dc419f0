import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

/** Hosts whose pace is remembered. */
const HOSTS_AT_MOST = 10_000;

/** Lets requests to a host through one after the other, with a pause between their beginnings. */
export class HostPace {
  private readonly nextMs = new LRUCache<string, number>({ max: HOSTS_AT_MOST });

  constructor(private readonly pauseMs: number) {}

  /** Resolves when it is a request's turn; false where that would take longer than it has. Throws the signal's reason. */
  async turn(host: string, withinMs: number, signal: AbortSignal): Promise<boolean> {
    const nowMs = performance.now();
    const atMs = Math.max(nowMs, this.nextMs.get(host) ?? 0);
    if (atMs - nowMs > withinMs) return false;
    this.nextMs.set(host, atMs + this.pauseMs);
    if (atMs > nowMs) await sleep(atMs - nowMs, undefined, { signal });
    return true;
  }
}

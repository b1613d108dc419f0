import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

/** The most hosts whose pace is remembered. */
const HOSTS_AT_MOST = 10_000;

/** Spaces out the requests to each host, with a pause between their starts. */
export class HostPace {
  private readonly nextMs = new LRUCache<string, number>({ max: HOSTS_AT_MOST });

  constructor(private readonly pauseMs: number) {}

  /** Resolves when it is a request's turn; false if that would take too long. Throws the signal's reason. */
  async turn(host: string, withinMs: number, signal: AbortSignal): Promise<boolean> {
    const nowMs = performance.now();
    const atMs = Math.max(nowMs, this.nextMs.get(host) ?? 0);
    if (atMs - nowMs > withinMs) return false;
    this.nextMs.set(host, atMs + this.pauseMs);
    if (atMs > nowMs) await sleep(atMs - nowMs, undefined, { signal });
    return true;
  }
}

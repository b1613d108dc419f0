import { within } from '../within.js';
import type { Readiness } from './health.js';

/** How often a neighbour is probed, and how long a probe may take. */
const ASK_EVERY_MS = 500;
const PROBE_MS = 2_000;

/** A single failed probe may be a hiccup. */
const FAILURES = 2;

/** Probes the neighbours that a process depends on, and reports the unavailable ones in its readiness. */
export class NeighbourWatch {
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(private readonly readiness: Readiness) {}

  /**
   * Starts to probe a neighbour. The process is not ready before the first success, nor while the probe
   * fails. With `forStartOnly` probing stops after the first success.
   */
  add(name: string, probe: () => Promise<unknown>, { forStartOnly = false } = {}): void {
    this.readiness.report(name, 'it has not responded yet');
    let failures = 0;
    let isAsking = false;
    const ask = async (): Promise<void> => {
      if (isAsking) return;
      isAsking = true;
      try {
        await within(PROBE_MS, probe());
        failures = 0;
        this.readiness.report(name);
        if (forStartOnly) clearInterval(timer);
      } catch (error) {
        failures += 1;
        if (failures >= FAILURES)
          this.readiness.report(name, error instanceof Error ? error.message : String(error));
      } finally {
        isAsking = false;
      }
    };
    // Never rejects.
    const timer = setInterval(() => void ask(), ASK_EVERY_MS);
    this.timers.push(timer);
    void ask();
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }
}

/** Resolves when one of these addresses is ready; rejects with the reason of each if none is. */
export async function anyIsReady(urls: string): Promise<void> {
  const probes = urls.split(',').map((url) => isReady(url.trim().replace(/\/$/, '')));
  try {
    await Promise.any(probes);
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    throw new Error(error.errors.map((each: Error) => each.message).join(', '), { cause: error });
  }
}

async function isReady(url: string): Promise<void> {
  try {
    const response = await fetch(`${url}/readyz`, {
      signal: AbortSignal.timeout(PROBE_MS),
      redirect: 'error',
    });
    await response.body?.cancel();
    if (response.status !== 200) throw new Error(`it responds with ${response.status}`);
  } catch (error) {
    const { cause } = error as Error;
    throw cause instanceof Error ? cause : error;
  }
}

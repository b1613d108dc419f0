import type { BackendLoad, LiveBackend } from '@svc/backend-calls';
import type { EnclaveReport } from '@svc/contracts/messages';
import type { TeeBackend } from '@svc/contracts/catalog';
import { unaccepted } from './checked-report.js';

/** A report is replaced after this time. */
const KNOWN_MS = 300_000;

/** Errors of a backend cause no new report before this time, so that clients cannot keep it busy. */
const LEAST_KNOWN_MS = 1_000;

/** By URL and model. */
const keys = new WeakMap<BackendLoad, AttestedKey>();

/** What the enclave of a backend last reported, which survives reloads of the catalogue. */
export function attestedKeyOf({ load }: LiveBackend): AttestedKey {
  const key = keys.get(load) ?? new AttestedKey();
  keys.set(load, key);
  return key;
}

class AttestedKey {
  private known: { readonly report: EnclaveReport; readonly sinceMs: number } | undefined;
  private learning: Promise<void> | undefined;

  /** Whether an accepted enclave has reported lately, and, if given, with this key. */
  isKnown(tee: TeeBackend | undefined, publicKey?: string): boolean {
    if (!this.known || !tee || performance.now() - this.known.sinceMs > KNOWN_MS) return false;
    const { report } = this.known;
    return unaccepted(report, tee) === undefined && report.publicKey === (publicKey ?? report.publicKey);
  }

  set(report: EnclaveReport): void {
    this.known = { report, sinceMs: performance.now() };
  }

  /** Waits for a report that sets it, for all callers together. */
  learn(report: () => Promise<unknown>): Promise<void> {
    this.learning ??= report().then(
      () => void (this.learning = undefined),
      (error: unknown) => {
        this.learning = undefined;
        throw error;
      },
    );
    return this.learning;
  }

  /** Forgets a report that may be out of date, since the backend failed. */
  invalidate(): void {
    if (this.known && performance.now() - this.known.sinceMs > LEAST_KNOWN_MS) this.known = undefined;
  }
}

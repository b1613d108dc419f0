import type { JobsBackend } from './backend.js';

/** The injected settings. */
export abstract class JobsSettings {
  abstract readonly backend: JobsBackend;
  /** Workers begin so long after the start, which they would slow down; default: 500 ms. */
  abstract readonly startAfterMs?: number;
}

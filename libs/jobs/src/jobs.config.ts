import type { JobsBackend } from './backend.js';

/** The injected settings. */
export abstract class JobsSettings {
  abstract readonly backend: JobsBackend;
  /** Workers begin so long after the start, which they would slow down; 500 ms unless told. */
  abstract readonly startAfterMs?: number;
}

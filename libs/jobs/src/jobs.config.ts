import type { JobsBackend } from './backend.js';

/** The injected settings. */
export abstract class JobsSettings {
  abstract readonly backend: JobsBackend;
  /** How long after the start workers begin, so as not to slow it down; default: 500 ms. */
  abstract readonly startAfterMs?: number;
}

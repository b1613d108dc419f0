const OPERATION = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
] as const;

/**
 * Boundaries of histograms, in seconds unless noted otherwise. Histograms with a name of OpenTelemetry's
 * conventions have at least the boundaries that these advise.
 */
export const SECONDS = {
  /** Calls inside a deployment. */
  call: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  /** Responses, which may be streams of minutes. */
  http: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300],
  /** Calls to backends. */
  operation: OPERATION,
  /** Complete model responses; the longest reason for many minutes. */
  inference: [...OPERATION, 163.84, 655.36],
  firstToken: [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160,
  ],
  perToken: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5],
  database: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
} as const;

/** Tokens of a request or its response. */
export const TOKENS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
] as const;

/** Batch sizes. */
export const BATCH = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000] as const;

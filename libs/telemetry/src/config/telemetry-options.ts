import type { TelemetryConfig } from './telemetry.config.js';

/** The log of the process, as far as telemetry writes to it. */
export interface TelemetryLog {
  readonly debug: (members: object, message: string) => void;
  readonly info: (members: object, message: string) => void;
  readonly warn: (members: object, message: string) => void;
}

/** What the telemetry of a process is made of. */
export interface TelemetryOptions {
  readonly config: TelemetryConfig;
  /** What the settings were read from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly log: TelemetryLog;
}

/** Receives messages for the operator. Pino's logger fits. */
export interface EventsLogger {
  warn(message: string): void;
  error(message: string): void;
}

export const silent: EventsLogger = { warn: () => undefined, error: () => undefined };

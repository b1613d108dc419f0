/** Where this library tells what an operator should know. Pino's logger fits. */
export interface EventsLogger {
  warn(message: string): void;
  error(message: string): void;
}

export const silent: EventsLogger = { warn: () => undefined, error: () => undefined };

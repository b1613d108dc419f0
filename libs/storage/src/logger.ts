/** Receives messages for the operator. Pino's logger fits. */
export interface StorageLogger {
  info(message: string): void;
  warn(message: string): void;
}

export const silent: StorageLogger = { info: () => undefined, warn: () => undefined };

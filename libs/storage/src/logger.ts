/** Where this library tells what an operator should know. Pino's logger fits. */
export interface StorageLogger {
  info(message: string): void;
  warn(message: string): void;
}

export const silent: StorageLogger = { info: () => undefined, warn: () => undefined };

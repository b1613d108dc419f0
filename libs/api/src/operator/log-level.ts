import { z } from 'zod';

/** From most to least verbose: each level includes those after it. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const NewLogLevel = z.strictObject({
  level: z.enum(LOG_LEVELS),
  /**
   * Reverts to the start-up level after this number of seconds; without it the level stays until the process
   * ends.
   */
  seconds: z.int().min(1).max(86_400).optional(),
});
export type NewLogLevel = z.infer<typeof NewLogLevel>;

export const LogLevelView = z.object({
  level: z.enum(LOG_LEVELS),
  /** When it reverts to the start-up level. */
  until: z.iso.datetime().nullable(),
});
export type LogLevelView = z.infer<typeof LogLevelView>;

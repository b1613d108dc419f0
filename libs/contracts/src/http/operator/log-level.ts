import { z } from 'zod';

/** Less and less: each has all that those after it have. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const NewLogLevel = z.strictObject({
  level: z.enum(LOG_LEVELS),
  /** After so many seconds it is again as the process was started; without them it stays until the process ends. */
  seconds: z.int().min(1).max(86_400).optional(),
});
export type NewLogLevel = z.infer<typeof NewLogLevel>;

export const LogLevelView = z.object({
  level: z.enum(LOG_LEVELS),
  /** When it goes back to what the process was started with. */
  until: z.iso.datetime().nullable(),
});
export type LogLevelView = z.infer<typeof LogLevelView>;

import { z } from 'zod';
import { StartFault } from '../start-fault.js';

/** The environment is not as a process needs it. Its message has a line for each fault. */
export class ConfigError extends StartFault {
  override readonly name = 'ConfigError';
}

/** A setting that reads a whole number. */
export const whole = (least: number, most: number) => z.coerce.number().int().min(least).max(most);

/** A TCP port; 0 takes a free one. */
export const port = whole(0, 65_535);

/** A duration in milliseconds, up to a day. */
export const durationMs = whole(1, 86_400_000);

/** The settings of a process, read from its environment. Reports all faults at once. */
export function loadConfig<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<z.ZodObject<Shape>> {
  // A variable set to nothing is taken for one that is not set, as shells and charts write it.
  const given = Object.fromEntries(Object.keys(shape).map((name) => [name, env[name] || undefined]));
  const result = z.object(shape).safeParse(given);
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigError(faults.join('\n'));
}

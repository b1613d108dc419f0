import { z } from 'zod';
import { SECRET_LENGTH } from '../http/secrets.js';
import { StartFault } from '../start-fault.js';

/** The environment is invalid. The message has a line for each fault. */
export class ConfigError extends StartFault {
  override readonly name = 'ConfigError';
}

/** A setting that is an integer. */
export const whole = (least: number, most: number) => z.coerce.number().int().min(least).max(most);

/** A TCP port; 0 picks a free one. */
export const port = whole(0, 65_535);

const isRedisUrl = (url: string): boolean => /^rediss?:\/\/[^\s/]/.test(url) && URL.canParse(url);

/** The URL of PostgreSQL. */
export const databaseUrl = z.url({ protocol: /^postgres(ql)?$/ });

/** The URL of Redis: a server, or comma-separated nodes of a Redis Cluster. */
export const redisUrl = z
  .string()
  .refine(
    (urls) =>
      urls
        .split(',')
        .filter((url) => url !== '')
        .every(isRedisUrl),
    'must be a Redis URL',
  )
  .describe('The URL of the Redis server, or those of Redis Cluster nodes, separated by commas');

/** A duration in milliseconds, up to a day. */
export const durationMs = whole(1, 86_400_000);

/** How long the start may wait for PostgreSQL. */
export const databaseStartWaitMs = durationMs
  .default(60_000)
  .describe('How long a starting process waits for a PostgreSQL server that does not respond yet');

/** At least three: some work holds a connection while other work has to go on. */
export const databaseConnections = whole(3, 1_000)
  .default(10)
  .describe('The maximum number of connections to PostgreSQL');

const address = z.url({ protocol: /^https?$/ });

/** The URL of a neighbour without a path, or several separated by commas. */
export const neighbourUrl = z.string().refine((text) => text.split(',').every((url) => isAddress(url)), {
  error: 'must be http://host:port, or several separated by commas',
});

function isAddress(text: string): boolean {
  const url = address.safeParse(text.trim());
  return url.success && new URL(url.data).pathname === '/';
}

/** A second value of a secret, for use during a rotation (docs/rotation.md). */
export function secondSecret(name: string) {
  return z
    .string()
    .min(SECRET_LENGTH)
    .optional()
    .describe(`A second accepted value of ${name}, for its rotation (docs/rotation.md)`);
}

/** The secret shared by the processes of a deployment. */
export const internalToken = z
  .string()
  .min(SECRET_LENGTH)
  .describe('The secret by which the processes of a deployment authenticate to each other');

/** The internal tokens that a process accepts from its callers. */
export const internalTokens = {
  SVC_INTERNAL_TOKEN: internalToken,
  SVC_INTERNAL_TOKEN_SECOND: secondSecret('SVC_INTERNAL_TOKEN'),
};

/** Reads the settings of a process from its environment. Reports all faults at once. */
export function loadConfig<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<z.ZodObject<Shape>> {
  // An empty variable counts as unset, as shells and charts write it.
  const given = Object.fromEntries(Object.keys(shape).map((name) => [name, env[name] || undefined]));
  const result = z.object(shape).safeParse(given);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => {
    const name = path.join('.');
    if (given[name] !== undefined) return `${name}: ${message}`;
    const { description } = (shape[name] as z.ZodType | undefined) ?? {};
    return description === undefined ? `${name} is not set` : `${name} is not set. ${description}`;
  });
  throw new ConfigError(faults.join('\n'));
}

import { z } from 'zod';
import { SECRET_LENGTH } from '../http/secrets.js';
import { sentinelAddress } from './sentinels.js';
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

/** The URL of Redis: a server, comma-separated nodes of a Redis Cluster, or Sentinels. */
export const redisUrl = z
  .string()
  .refine(
    (urls) =>
      sentinelAddress(urls) !== undefined ||
      urls
        .split(',')
        .filter((url) => url !== '')
        .every(isRedisUrl),
    'must be a Redis URL',
  )
  .describe(
    'The URL of the Redis server, or those of Redis Cluster nodes, separated by commas, or of Sentinels: `redis+sentinel://:PASSWORD@host:26379,host:26379/MASTER`',
  );

/** A duration in milliseconds, up to a day. */
export const durationMs = whole(1, 86_400_000);

/** How long the start may wait for PostgreSQL. */
export const databaseStartWaitMs = durationMs
  .default(60_000)
  .describe('How long a starting process waits for a PostgreSQL server that does not respond yet');

/** The pool of a process, in a database with this content. */
export const poolSettings = (content: string) => ({
  DATABASE_URL: databaseUrl.describe(`The URL of the PostgreSQL database with ${content}`),
  // At least three: some work holds a connection while other work has to go on.
  DATABASE_CONNECTIONS: whole(3, 1_000)
    .default(10)
    .describe('The maximum number of connections to PostgreSQL'),
});

/** The same of a process whose start waits for the database. */
export const databaseSettings = (content: string) => ({
  ...poolSettings(content),
  DATABASE_START_WAIT_MS: databaseStartWaitMs,
});

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

/** The services that others call, by the name in their settings: `LEDGER_URL`, `LEDGER_TOKEN`. */
const CALLED = {
  GATEWAY: 'api-gateway',
  LEDGER: 'billing-ledger',
  LIMITER: 'rate-limiter',
  MEDIA_JOBS: 'media-worker',
  PAYMENTS: 'x402-payments',
  RETRIEVAL: 'retrieval-worker',
  ROUTER: 'inference-router',
} as const;

type Called = keyof typeof CALLED;

/** A setting that has the value of another one if it is unset. */
interface Otherwise {
  readonly name: string;
  /** Only as long as this one is unset as well. */
  readonly unless?: string;
  /** An optional setting that is needed if this one is set. */
  readonly neededWith?: string;
}

const SHARED = 'SVC_INTERNAL_TOKEN';
const secret = z.string().min(SECRET_LENGTH);
const otherwise = (other: Otherwise): { otherwise: Otherwise } => ({ otherwise: other });

type InternalTokens<Accepts extends Called, Sends extends Called, MaySend extends Called> = Record<
  `${Accepts | Sends}_TOKEN`,
  z.ZodString
> &
  Record<
    `${MaySend}_TOKEN` | `${Accepts}_TOKEN_SECOND` | typeof SHARED | `${typeof SHARED}_SECOND`,
    z.ZodOptional<z.ZodString>
  >;

/**
 * The internal tokens of a process: the one that it accepts from its callers, those that it sends, and those
 * that it sends if it has the URL of the service. Each service has its own, so that no process can call
 * services that it has no business with. A deployment may still have one token for all of them.
 */
export function internalTokens<
  Accepts extends Called,
  Sends extends Called = never,
  MaySend extends Called = never,
>(given: {
  readonly accepts: Accepts;
  readonly sends?: readonly Sends[];
  readonly maySend?: readonly MaySend[];
}): InternalTokens<Accepts, Sends, MaySend> {
  const { accepts, sends = [], maySend = [] } = given;
  const own = `${accepts}_TOKEN`;
  const sent = (service: Called): string => `The token by which callers of ${CALLED[service]} authenticate`;
  const tokens: Record<string, z.ZodType> = {
    [SHARED]: secret.optional().describe('The token of all services that have none of their own'),
    [`${SHARED}_SECOND`]: secondSecret(SHARED),
    [own]: secret
      .describe('The token by which callers of this process authenticate')
      .meta(otherwise({ name: SHARED })),
    [`${own}_SECOND`]: secondSecret(own).meta(otherwise({ name: `${SHARED}_SECOND`, unless: own })),
  };
  for (const one of sends)
    tokens[`${one}_TOKEN`] = secret.describe(sent(one)).meta(otherwise({ name: SHARED }));
  for (const one of maySend)
    tokens[`${one}_TOKEN`] = secret
      .optional()
      .describe(sent(one))
      .meta(otherwise({ name: SHARED, neededWith: `${one}_URL` }));
  return tokens as InternalTokens<Accepts, Sends, MaySend>;
}

/** The setting whose value another one has by default. */
export const otherwiseOf = (schema: unknown): Otherwise | undefined =>
  schema instanceof z.ZodType ? (schema.meta()?.['otherwise'] as Otherwise | undefined) : undefined;

/** Reads the settings of a process from its environment. Reports all faults at once. */
export function loadConfig<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<z.ZodObject<Shape>> {
  // An empty variable counts as unset, as shells and charts write it.
  const given = Object.fromEntries(Object.keys(shape).map((name) => [name, env[name] || undefined]));
  const missing: string[] = [];
  for (const [name, schema] of Object.entries(shape)) {
    const other = otherwiseOf(schema);
    if (!other) continue;
    if (!env[other.unless ?? name]) given[name] ??= env[other.name] || undefined;
    if (given[name] === undefined && other.neededWith && env[other.neededWith]) missing.push(name);
  }
  const unset = (name: string): string => {
    const { description } = (shape[name] as z.ZodType | undefined) ?? {};
    const other = otherwiseOf(shape[name]);
    const text = `${name} is not set${other ? `, and neither is ${other.name}` : ''}`;
    return description === undefined ? text : `${text}. ${description}`;
  };
  const result = z.object(shape).safeParse(given);
  if (result.success && missing.length === 0) return result.data;
  const faults = (result.error?.issues ?? []).map(({ path, message }) => {
    const name = path.join('.');
    return given[name] === undefined ? unset(name) : `${name}: ${message}`;
  });
  throw new ConfigError([...faults, ...missing.map(unset)].join('\n'));
}

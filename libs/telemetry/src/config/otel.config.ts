import { z } from 'zod';

const SIGNALS = ['TRACES', 'METRICS', 'LOGS'] as const;
export type Signal = (typeof SIGNALS)[number];

type OfSignal<Signal extends string, Name extends string, Type> = {
  [Key in `OTEL_EXPORTER_OTLP_${Signal}${Name}`]: Type;
};
type BySignal<Name extends string, Type> = OfSignal<'' | `${Signal}_`, Name, Type>;

/** A setting of the senders: for every signal, and for each one instead. */
function bySignal<const Name extends string, Type extends z.ZodType>(
  name: Name,
  type: Type,
  what: string,
): BySignal<Name, z.ZodOptional<Type>> {
  const common = `OTEL_EXPORTER_OTLP_${name}`;
  const own = SIGNALS.map((signal) => [
    `OTEL_EXPORTER_OTLP_${signal}_${name}`,
    type.optional().describe(`As ${common}, for ${signal.toLowerCase()} only`),
  ]);
  return Object.fromEntries([[common, type.optional().describe(what)], ...own]) as BySignal<
    Name,
    z.ZodOptional<Type>
  >;
}

const amount = z.coerce.number().int().min(1);
const ms = (most: number) => amount.max(most);

/** Comma-separated `name=value` pairs, percent-encoded: OpenTelemetry's format for headers and attributes. */
const pairs = z
  .string()
  .regex(/^([^=,]+=[^,]*)(,[^=,]+=[^,]*)*$/, 'must be name=value pairs, separated by commas')
  .refine(isDecodable, 'has a % that does not begin a percent-encoded character');

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const exporter = z.enum(
  ['otlp', 'none'],
  'must be otlp or none: the log is on stdout, metrics are on /metrics',
);

const PROPAGATORS: ReadonlySet<string> = new Set(['tracecontext', 'baggage', 'b3', 'b3multi', 'none']);

const listOf = (text: string): string[] => text.split(',').map((name) => name.trim());

const RATIO_SAMPLERS = ['traceidratio', 'parentbased_traceidratio'] as const;
const SAMPLERS = [
  'always_on',
  'always_off',
  'parentbased_always_on',
  'parentbased_always_off',
  ...RATIO_SAMPLERS,
] as const;

/** When and how much is sent at once. */
const batchConfig = {
  OTEL_BSP_SCHEDULE_DELAY: ms(60_000).default(5_000).describe('The interval at which traces are sent'),
  OTEL_BSP_EXPORT_TIMEOUT: ms(600_000).default(30_000).describe('How long sending a batch of spans may take'),
  OTEL_BSP_MAX_QUEUE_SIZE: amount
    .default(2_048)
    .describe('How many spans may wait; further ones are dropped'),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: amount.default(512).describe('How many spans are sent at once'),
  OTEL_BLRP_SCHEDULE_DELAY: ms(60_000).default(1_000).describe('The interval at which log lines are sent'),
  OTEL_BLRP_EXPORT_TIMEOUT: ms(600_000)
    .default(30_000)
    .describe('How long sending a batch of lines may take'),
  OTEL_BLRP_MAX_QUEUE_SIZE: amount
    .default(2_048)
    .describe('How many log lines may wait; further ones are only on stdout'),
  OTEL_BLRP_MAX_EXPORT_BATCH_SIZE: amount.default(512).describe('How many log lines are sent at once'),
  OTEL_METRIC_EXPORT_INTERVAL: ms(3_600_000)
    .default(60_000)
    .describe('The interval at which metrics are sent'),
  OTEL_METRIC_EXPORT_TIMEOUT: ms(600_000)
    .default(30_000)
    .describe('How long collecting and sending metrics may take; at most the interval'),
};

/** OpenTelemetry's own settings, with the meaning that its specification gives them. */
export const otelConfig = (service: string) => ({
  OTEL_SERVICE_NAME: z.string().default(service).describe('The name of this service in telemetry'),
  OTEL_RESOURCE_ATTRIBUTES: pairs.optional().describe('Further resource attributes, as `name=value` pairs'),
  OTEL_SDK_DISABLED: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false']))
    .default('false')
    .describe('Whether to disable OTLP even if endpoints are set'),
  OTEL_LOG_LEVEL: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['none', 'error', 'warn', 'info', 'debug', 'verbose', 'all']))
    .default('info')
    .describe("Which of the SDK's own messages are logged"),
  ...bySignal(
    'ENDPOINT',
    z.url({ protocol: /^https?$/ }),
    'The OTLP endpoint; if unset, nothing is sent, and the SDK is not loaded',
  ),
  ...bySignal(
    'PROTOCOL',
    z.enum(['grpc', 'http/protobuf', 'http/json']),
    'The protocol of OTLP; `http/protobuf` if unset',
  ),
  ...bySignal('HEADERS', pairs, 'Headers of OTLP requests, as `name=value` pairs'),
  ...bySignal('TIMEOUT', ms(600_000), 'How long sending a batch may take; 10000 if unset'),
  ...bySignal('COMPRESSION', z.enum(['gzip', 'none']), 'The compression of OTLP requests; `none` if unset'),
  ...bySignal('CERTIFICATE', z.string(), 'A file of CA certificates for OTLP over TLS'),
  ...bySignal('CLIENT_CERTIFICATE', z.string(), 'A file with the client certificate for OTLP over TLS'),
  ...bySignal('CLIENT_KEY', z.string(), 'A file with the key of the client certificate'),
  OTEL_TRACES_EXPORTER: exporter.default('otlp').describe('Whether traces are sent'),
  OTEL_METRICS_EXPORTER: exporter.default('otlp').describe('Whether metrics are sent'),
  OTEL_LOGS_EXPORTER: exporter
    .default('none')
    .describe('Whether log lines are also sent by OTLP; they are always written to stdout'),
  OTEL_PROPAGATORS: z
    .string()
    .refine(
      (text) => listOf(text).every((name) => PROPAGATORS.has(name)),
      `must be one or more of ${[...PROPAGATORS].join(', ')}, separated by commas`,
    )
    .default('tracecontext')
    .describe("The headers by which clients' and backends' traces are linked, separated by commas"),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS)
    .optional()
    .describe('Which traces are sent; if unset, `parentbased_traceidratio` with 0.01'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe(
      'The fraction of requests whose traces are sent; failed and slow requests are sent in addition',
    ),
  ...batchConfig,
});

export type OtelConfig = z.infer<z.ZodObject<ReturnType<typeof otelConfig>>>;

/** The signals that are sent: those with an exporter and an endpoint. */
export function sentSignals(config: OtelConfig): ReadonlySet<Signal> {
  if (config.OTEL_SDK_DISABLED === 'true') return new Set();
  const isSent = (signal: Signal): boolean =>
    config[`OTEL_${signal}_EXPORTER`] !== 'none' &&
    (config[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] ?? config.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined;
  return new Set(SIGNALS.filter(isSent));
}

/** Which traces are sampled. */
export interface Sampling {
  /** The share of traces, from 0 to 1. */
  readonly ratio: number;
  /** Whether the sampled flag of a parent decides for the traces that have one. */
  readonly asksParent: boolean;
}

export function samplingOf({
  OTEL_TRACES_SAMPLER: name,
  OTEL_TRACES_SAMPLER_ARG: arg,
}: OtelConfig): Sampling {
  if (name === undefined) return { ratio: arg ?? 0.01, asksParent: true };
  const ratio = name.endsWith('always_off') ? 0 : name.endsWith('always_on') ? 1 : (arg ?? 1);
  return { ratio, asksParent: name.startsWith('parentbased_') };
}

/** Limits of what is sent, which the SDK reads by itself. */
const LIMITS =
  /^OTEL_(?:SPAN_|EVENT_|LINK_|LOGRECORD_)?ATTRIBUTE_(?:COUNT|VALUE_LENGTH)_LIMIT$|^OTEL_SPAN_(?:EVENT|LINK)_COUNT_LIMIT$/;

/** What is read of the settings without sending anything, or decides that nothing is sent. */
const ALWAYS = /^OTEL_(?:SERVICE_NAME|RESOURCE_ATTRIBUTES|SDK_DISABLED|(?:TRACES|METRICS|LOGS)_EXPORTER)$/;

const SIGNAL_OF: readonly (readonly [RegExp, Signal])[] = [
  [/^OTEL_(?:EXPORTER_OTLP_)?TRACES_(?!EXPORTER$)|^OTEL_BSP_|^OTEL_PROPAGATORS$/, 'TRACES'],
  [/^OTEL_EXPORTER_OTLP_METRICS_|^OTEL_METRIC_/, 'METRICS'],
  [/^OTEL_EXPORTER_OTLP_LOGS_|^OTEL_BLRP_/, 'LOGS'],
];

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that are given and have no effect, each with the reason. Reported, as nobody would notice. */
export function withoutEffect(config: OtelConfig, env: Environment): string[] {
  if (config.OTEL_SDK_DISABLED === 'true') return [];
  const sent = sentSignals(config);
  const given = Object.keys(env).filter((name) => name.startsWith('OTEL_') && env[name] !== '');
  return given.toSorted().flatMap((name) => {
    const reason = reasonOf(name, config, sent);
    return reason === undefined ? [] : [`${name}: ${reason}`];
  });
}

function reasonOf(name: string, config: OtelConfig, sent: ReadonlySet<Signal>): string | undefined {
  if (!(name in config) && !LIMITS.test(name)) return 'not a setting of this process';
  if (ALWAYS.test(name)) return undefined;
  if (sent.size === 0) return 'no OTLP endpoint is set';
  const [, signal] = SIGNAL_OF.find(([names]) => names.test(name)) ?? [];
  if (signal !== undefined && !sent.has(signal)) return `no ${signal.toLowerCase()} are sent`;
  const sampler = config.OTEL_TRACES_SAMPLER;
  if (name === 'OTEL_TRACES_SAMPLER_ARG' && sampler?.includes('always') === true)
    return `${sampler} has no argument`;
  if (name === 'OTEL_PROPAGATORS' && listOf(config.OTEL_PROPAGATORS).includes('baggage'))
    return 'baggage is not passed on';
  return undefined;
}

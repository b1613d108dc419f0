import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { DataPointType } from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import { SCHEMA_URL } from '../src/export/sdk.js';
import { CellProducer } from '../src/export/otlp-metrics.js';
import { CATALOGUE } from '../src/instruments/catalogue.js';
import { Gauge } from '../src/metrics/metrics.js';

/** Our own names. */
const OWN = /^svc\./;

const named = (prefix: string): ReadonlySet<string> =>
  new Set(
    Object.entries(conventions).flatMap(([key, value]) =>
      key.startsWith(prefix) && typeof value === 'string' ? [value] : [],
    ),
  );
const METRICS = named('METRIC_');
const ATTRIBUTES = named('ATTR_');

const packageFile = (name: string): string =>
  readFileSync(new URL(name, import.meta.resolve('@opentelemetry/semantic-conventions')), 'utf8');

/**
 * Names that the conventions have given up for others. Those of generative AI were moved to conventions
 * without a release, so the last released ones are in force.
 */
const REPLACED = new Set(
  ['experimental_metrics.d.mts', 'experimental_attributes.d.mts'].flatMap((name) =>
    Array.from(
      packageFile(name).matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s*declare const \w+: "([^"]+)"/g),
      ([, comment = '', value = '']) =>
        /@deprecated(?! Moved to the \[OpenTelemetry GenAI)/.test(comment) ? value : '',
    ),
  ),
);

const isInForce = (names: ReadonlySet<string>, name: string): boolean =>
  names.has(name) && !REPLACED.has(name);

const SPAN_ATTRIBUTES = Array.from(
  readFileSync(join(import.meta.dirname, '../src/traces/attributes.ts'), 'utf8').matchAll(
    /^ {2}'([\w.]+)'\?:/gm,
  ),
  ([, name = '']) => name,
);

const HTTP = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const OPERATION = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const FIRST_TOKEN = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const PER_TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const GEN_AI = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'];

type Instrument = 'counter' | 'gauge' | 'histogram' | 'updowncounter';

/**
 * What version 1.44.0 says about each metric that we have: its instrument, its unit, attributes that it
 * requires, and the boundaries that it advises. `url.scheme`, `server.address` and `server.port` are omitted;
 * the page about traces and logs says why.
 */
const SPECIFIED: Readonly<
  Record<
    string,
    readonly [Instrument, unit: string, attributes: readonly string[], advised?: readonly number[]]
  >
> = {
  'http.server.request.duration': ['histogram', 's', ['http.request.method'], HTTP],
  'http.server.active_requests': ['updowncounter', '{request}', []],
  'http.client.request.duration': ['histogram', 's', []],
  'db.client.operation.duration': [
    'histogram',
    's',
    ['db.system.name', 'error.type'],
    [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
  ],
  'db.client.connection.count': [
    'updowncounter',
    '{connection}',
    ['db.client.connection.pool.name', 'db.client.connection.state'],
  ],
  'db.client.connection.max': ['updowncounter', '{connection}', ['db.client.connection.pool.name']],
  'db.client.connection.pending_requests': ['updowncounter', '{request}', ['db.client.connection.pool.name']],
  'messaging.client.operation.duration': [
    'histogram',
    's',
    ['messaging.system', 'messaging.operation.name', 'error.type'],
    HTTP,
  ],
  'messaging.process.duration': ['histogram', 's', ['messaging.system', 'messaging.operation.name'], HTTP],
  'gen_ai.client.token.usage': ['histogram', '{token}', [...GEN_AI, 'gen_ai.token.type'], TOKENS],
  'gen_ai.client.operation.duration': ['histogram', 's', [...GEN_AI, 'error.type'], OPERATION],
  'gen_ai.client.operation.time_to_first_chunk': ['histogram', 's', GEN_AI, OPERATION],
  'gen_ai.server.request.duration': ['histogram', 's', [...GEN_AI, 'error.type'], OPERATION],
  'gen_ai.server.time_to_first_token': ['histogram', 's', GEN_AI, FIRST_TOKEN],
  'gen_ai.server.time_per_output_token': ['histogram', 's', GEN_AI, PER_TOKEN],
  'nodejs.eventloop.delay.p50': ['gauge', 's', []],
  'nodejs.eventloop.delay.p99': ['gauge', 's', []],
  'nodejs.eventloop.delay.max': ['gauge', 's', []],
  'nodejs.eventloop.utilization': ['gauge', '1', []],
  'process.cpu.time': ['counter', 's', ['cpu.mode']],
  'process.memory.usage': ['updowncounter', 'By', []],
  'process.unix.file_descriptor.count': ['updowncounter', '{file_descriptor}', []],
  'process.uptime': ['gauge', 's', []],
};

const conventional = CATALOGUE.filter(({ descriptor: { name } }) => !OWN.test(name)).map(
  (metric) => [metric.descriptor.name, metric] as const,
);

const attributesOf = ({ descriptor: { labels, constants } }: (typeof CATALOGUE)[number]): string[] => [
  ...labels,
  ...Object.keys(constants ?? {}),
];

describe('a metric whose name does not begin with `svc.`', () => {
  it.each(conventional)('%s is in the semantic conventions that the schema URL names', (name) => {
    const version = (JSON.parse(packageFile('../package.json')) as { version: string }).version;
    expect(SCHEMA_URL).toBe(`https://opentelemetry.io/schemas/${version}`);
    expect([name, isInForce(METRICS, name)]).toEqual([name, true]);
  });

  it.each(conventional)(
    '%s has the instrument, unit, attributes and boundaries of its convention',
    (name, metric) => {
      const [instrument, unit, attributes, advised = []] = SPECIFIED[name] ?? [];
      const kind = metric.kind === 'gauge' && metric.descriptor.addsUp ? 'updowncounter' : metric.kind;
      expect([name, kind, metric.descriptor.unit]).toEqual([name, instrument, unit]);
      expect(attributesOf(metric)).toEqual(expect.arrayContaining([...(attributes ?? [])]));
      const boundaries = metric.kind === 'histogram' ? metric.boundaries : [];
      expect(boundaries).toEqual(expect.arrayContaining([...advised]));
    },
  );
});

it('token usage and calls to backends have exactly the advised boundaries', () => {
  const boundaries = (of: string) =>
    CATALOGUE.flatMap((metric) =>
      metric.kind === 'histogram' && metric.descriptor.name === of ? [metric.boundaries] : [],
    );
  expect(boundaries('gen_ai.client.token.usage')).toEqual([TOKENS]);
  expect(boundaries('gen_ai.client.operation.duration')).toEqual([OPERATION]);
});

it('attributes of spans and of conventional metrics are our own, or in the semantic conventions', () => {
  expect(SPAN_ATTRIBUTES.length).toBeGreaterThan(20);
  const inUse = [...conventional.flatMap(([, metric]) => attributesOf(metric)), ...SPAN_ATTRIBUTES];
  // Metrics of our own may have labels of our own, but none that looks like one of the conventions.
  const dotted = CATALOGUE.flatMap(attributesOf).filter((name) => name.includes('.'));
  expect([...inUse, ...dotted].filter((name) => !OWN.test(name) && !isInForce(ATTRIBUTES, name))).toEqual([]);
});

it('names that the conventions have replaced are not in force, those of generative AI are', () => {
  for (const name of [
    'v8js.memory.heap.limit',
    'process.open_file_descriptor.count',
    'db.client.connections.max',
  ])
    expect([name, METRICS.has(name), isInForce(METRICS, name)]).toEqual([name, true, false]);
  expect(isInForce(METRICS, 'gen_ai.client.token.usage')).toBe(true);
  expect(isInForce(METRICS, 'gen_ai.client.inference.duration')).toBe(false);
});

it('gauges that add up are sent as sums that may fall', async () => {
  const descriptor = { name: 'svc.things', unit: '{thing}', help: 'Things.', labels: [] } as const;
  const metrics = [new Gauge({ ...descriptor, addsUp: true }), new Gauge(descriptor)];
  for (const metric of metrics) metric.set(1);
  const scope = { name: 'test', version: '0', schemaUrl: SCHEMA_URL };
  const { resourceMetrics } = await new CellProducer(metrics, scope).collect();
  expect(resourceMetrics.scopeMetrics[0]?.metrics).toMatchObject([
    { dataPointType: DataPointType.SUM, isMonotonic: false },
    { dataPointType: DataPointType.GAUGE },
  ]);
});

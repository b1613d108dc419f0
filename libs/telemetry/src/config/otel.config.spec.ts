import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { samplingOf, sentSignals, withoutEffect } from './otel.config.js';
import { telemetryConfig } from './telemetry.config.js';

const schema = z.object(telemetryConfig('unit'));
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe("OpenTelemetry's settings", () => {
  it.each([
    [{}, []],
    [ENDPOINT, ['TRACES', 'METRICS']],
    [{ ...ENDPOINT, OTEL_LOGS_EXPORTER: 'otlp' }, ['TRACES', 'METRICS', 'LOGS']],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }, []],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, ['TRACES']],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://collector' }, ['METRICS']],
    [{ OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://collector:4318/v1/logs' }, []],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }, []],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }, []],
  ])('%o send %o', (env, signals) => {
    expect([...sentSignals(schema.parse(env))]).toEqual(signals);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/xml'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd'],
    ['OTEL_EXPORTER_OTLP_LOGS_COMPRESSION', 'br'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
    ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'unix:///run/collector'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'token'],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'token=%zz'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'team=%'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
    ['OTEL_EXPORTER_OTLP_LOGS_TIMEOUT', '0'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_METRICS_EXPORTER', 'prometheus'],
    ['OTEL_LOGS_EXPORTER', 'console'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_PROPAGATORS', 'tracecontext,jaeger'],
    ['OTEL_SDK_DISABLED', 'yes'],
    ['OTEL_LOG_LEVEL', 'loud'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '0'],
    ['OTEL_BLRP_SCHEDULE_DELAY', '-1'],
    ['OTEL_METRIC_EXPORT_INTERVAL', '0'],
  ])('refuse %s=%s', (name, value) => {
    expect(schema.safeParse({ [name]: value }).error?.issues.map(({ path }) => path)).toEqual([[name]]);
  });

  it.each([
    [{}, { ratio: 0.01, asksParent: true }],
    [{ OTEL_TRACES_SAMPLER_ARG: '0.5' }, { ratio: 0.5, asksParent: true }],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, { ratio: 1, asksParent: false }],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, { ratio: 0, asksParent: false }],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio' }, { ratio: 1, asksParent: false }],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.2' },
      { ratio: 0.2, asksParent: false },
    ],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_on' }, { ratio: 1, asksParent: true }],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, { ratio: 0, asksParent: true }],
    [
      { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
      { ratio: 0, asksParent: true },
    ],
  ])('%o sample %o', (env, sampling) => {
    expect(samplingOf(schema.parse(env))).toEqual(sampling);
  });

  it.each<[Record<string, string>, string[]]>([
    [
      { OTEL_TRACES_SAMPLER_ARG: '1', OTEL_SERVICE_NAME: 'x' },
      ['OTEL_TRACES_SAMPLER_ARG: no OTLP endpoint is set'],
    ],
    [
      { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'always_on', OTEL_TRACES_SAMPLER_ARG: '1' },
      ['OTEL_TRACES_SAMPLER_ARG: always_on has no argument'],
    ],
    [
      { ...ENDPOINT, OTEL_PROPAGATORS: 'tracecontext,baggage' },
      ['OTEL_PROPAGATORS: baggage is not passed on'],
    ],
    [
      { ...ENDPOINT, OTEL_BLRP_SCHEDULE_DELAY: '5', OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'a=b' },
      ['OTEL_BLRP_SCHEDULE_DELAY: no logs are sent', 'OTEL_EXPORTER_OTLP_LOGS_HEADERS: no logs are sent'],
    ],
    [
      { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_TRACES_SAMPLER: 'always_on' },
      ['OTEL_TRACES_SAMPLER: no traces are sent'],
    ],
    [
      { ...ENDPOINT, OTEL_CONFIG_FILE: 'x.yaml', OTEL_EXPORTER_OTLP_ENDPIONT: 'x' },
      [
        'OTEL_CONFIG_FILE: not a setting of this process',
        'OTEL_EXPORTER_OTLP_ENDPIONT: not a setting of this process',
      ],
    ],
    [{ ...ENDPOINT, OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '10', OTEL_LOG_LEVEL: '' }, []],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'true', OTEL_BSP_SCHEDULE_DELAY: '5' }, []],
  ])('%o are reported where they have no effect', (env, reported) => {
    const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
    const settings = Object.fromEntries(Object.keys(schema.shape).map((name) => [name, given[name]]));
    expect(withoutEffect(schema.parse(settings), env)).toEqual(reported);
  });
});

import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { loadConfig } from '@svc/runtime';
import {
  logLines,
  type RunningTelemetry,
  requests,
  scrapedMetrics,
  startTelemetry,
  telemetryConfig,
  tracing,
} from '@svc/telemetry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OtlpReceiver } from '../otlp-receiver.js';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';

const CLIENTS_TRACE = '0af7651916cd43dd8448eb211c80319c';
const CLIENTS_SPAN = 'b7ad6b7169203331';
const FAST = {
  OTEL_BSP_SCHEDULE_DELAY: '20',
  OTEL_BLRP_SCHEDULE_DELAY: '20',
  OTEL_METRIC_EXPORT_INTERVAL: '200',
};

let receiver: OtlpReceiver;
let telemetry: RunningTelemetry | undefined;
const warnings: (readonly [message: string, members: object])[] = [];

beforeEach(async () => {
  receiver = await OtlpReceiver.start();
});

afterEach(async () => {
  await telemetry?.stop();
  telemetry = undefined;
  receiver.close();
  vi.unstubAllEnvs();
  warnings.length = 0;
});

/** Starts the telemetry of a process with these settings in its environment. */
async function start(env: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries({ ...FAST, ...env })) vi.stubEnv(name, value);
  const log = {
    debug: () => undefined,
    info: (members: object, message: string) => void warnings.push([message, members]),
    warn: (members: object, message: string) => void warnings.push([message, members]),
  };
  const config = loadConfig(telemetryConfig('unit'), process.env);
  telemetry = await startTelemetry({ config, env: process.env, version: '1', log });
}

let requestsMade = 0;

/** A request that a client sent with these headers; returns the id of our trace. */
function request(headers: Readonly<Record<string, string>> = {}): string {
  const id = (requestsMade += 1).toString(16).padStart(18, 'a').padEnd(32, '8');
  const trace = tracing.forClient({ name: 'GET /x', id, startMs: performance.now(), headers });
  requests.duration.with('GET', '/x', '200').record(0.01, trace.measured);
  tracing.end(trace, { failed: false, waitedMs: 0 });
  logLines.take(JSON.stringify({ level: 'info', time: new Date(), msg: 'request', trace_id: trace.id }));
  return trace.id;
}

const protocols = [
  ['grpc', 'grpcUrl'],
  ['http/protobuf', 'url'],
  ['http/json', 'url'],
] as const;

describe.each(protocols)('telemetry by %s', (protocol, url) => {
  it.each(['none', 'gzip'])(
    'has every signal, with its own headers and schema; compression: %s',
    async (how) => {
      await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver[url],
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_COMPRESSION: how,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=all,x-team=a%20b',
        OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-tenant=metrics',
        OTEL_TRACES_SAMPLER: 'always_on',
        OTEL_LOGS_EXPORTER: 'otlp',
      });
      const id = request();
      const exemplars = () =>
        receiver.metrics
          .filter(({ name }) => name === 'http.server.request.duration')
          .flatMap(({ points }) => points)
          .flatMap((point) => point.exemplars);
      await eventually('each signal has come', () => {
        const linked = exemplars().some(({ traceId }) => traceId === id);
        return (
          receiver.trace(id).length > 0 && linked && receiver.lines.some(({ traceId }) => traceId === id)
        );
      });
      const span = receiver.trace(id)[0];
      expect(exemplars().find(({ traceId }) => traceId === id)).toMatchObject({
        spanId: span?.spanId,
        value: 0.01,
      });
      expect(receiver.schemas).toEqual(new Set(['https://opentelemetry.io/schemas/1.44.0']));
      expect(new Set(receiver.requests.map((each) => each.protocol))).toEqual(new Set([protocol]));
      for (const { signal, headers } of receiver.requests) {
        expect(headers['x-tenant']).toBe(signal === 'Metrics' ? 'metrics' : 'all');
        expect(headers['x-team']).toBe('a b');
        // The server of gRPC hides how a message was compressed.
        const isHidden = protocol === 'grpc' || how === 'none';
        expect(headers['content-encoding']).toBe(isHidden ? undefined : 'gzip');
      }
      expect(warnings.filter(([message]) => /no effect|takes no/.test(message))).toEqual([]);
    },
  );
});

describe('the settings of one signal', () => {
  it('win over those for all: another receiver, another protocol', async () => {
    const own = await OtlpReceiver.start();
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own.grpcUrl,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'always_on',
    });
    request();
    await eventually('both have come', () => own.spans.length > 0 && receiver.metrics.length > 0);
    expect(new Set(own.requests.map(({ signal }) => signal))).toEqual(new Set(['Trace']));
    expect(new Set(receiver.requests.map(({ signal }) => signal))).toEqual(new Set(['Metrics']));
    own.close();
  });

  it('send that signal only, if only it has an endpoint', async () => {
    await start({
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.url}/v1/metrics`,
      OTEL_TRACES_SAMPLER: 'always_on',
    });
    request();
    await eventually('metrics have come', () => receiver.requests.length > 2);
    expect(receiver.spans).toEqual([]);
    expect(warnings).toEqual([
      [
        'some OTEL_ settings have no effect',
        { settings: expect.arrayContaining(['OTEL_TRACES_SAMPLER: no traces are sent']) as string[] },
      ],
    ]);
  });
});

describe('the name of a sender', () => {
  it.each([
    [{}, 'unit'],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'service.name=attribute,team=a%2Cb' }, 'attribute'],
    [{ OTEL_SERVICE_NAME: 'named', OTEL_RESOURCE_ATTRIBUTES: 'service.name=attribute,team=a%2Cb' }, 'named'],
  ])('with %o is %s', async (env, name) => {
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env });
    await eventually('metrics have come', () => receiver.metrics.length > 0);
    expect(receiver.metrics[0]?.resource).toMatchObject({
      'service.name': name,
      'service.version': '1',
      'telemetry.sdk.language': 'nodejs',
      ...('OTEL_RESOURCE_ATTRIBUTES' in env && { team: 'a,b' }),
    });
  });
});

describe('nothing is sent', () => {
  it.each<Record<string, string>>([
    { OTEL_SDK_DISABLED: 'true' },
    { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none', OTEL_TRACES_SAMPLER: 'always_on' },
  ])('with %o', async (env) => {
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env });
    request();
    await telemetry?.stop();
    expect(receiver.requests).toEqual([]);
  });
});

describe('the trace of a client', () => {
  const flags = (isSampled: boolean): string => (isSampled ? '1' : '0');
  const headersOf = (isSampled: boolean): Record<string, string> => ({
    traceparent: `00-${CLIENTS_TRACE}-${CLIENTS_SPAN}-0${flags(isSampled)}`,
    b3: `${CLIENTS_TRACE}-${CLIENTS_SPAN}-${flags(isSampled)}`,
    'x-b3-traceid': CLIENTS_TRACE,
    'x-b3-spanid': CLIENTS_SPAN,
    'x-b3-sampled': flags(isSampled),
  });
  // The headers that are sent; either form of b3 is read.
  const CARRIERS: Readonly<Record<string, readonly string[]>> = {
    tracecontext: ['traceparent'],
    b3: ['b3'],
    b3multi: ['x-b3-traceid', 'x-b3-spanid', 'x-b3-sampled'],
    none: [],
  };

  it.each(Object.entries(CARRIERS))(
    'is read and named by the headers of %s only',
    async (propagator, names) => {
      await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_PROPAGATORS: propagator,
        OTEL_TRACES_SAMPLER: 'always_on',
        SVC_TRACES_TO_BACKENDS: 'true',
      });
      const id = request(headersOf(true));
      const others = Object.entries(headersOf(true)).filter(([name]) =>
        propagator.startsWith('b3') ? name === 'traceparent' : !names.includes(name),
      );
      const unlinked = request(Object.fromEntries(others));
      await eventually('spans have come', () => receiver.trace(unlinked).length > 0);
      const link = `${CLIENTS_TRACE} ${CLIENTS_SPAN}`;
      expect(receiver.trace(id)[0]?.links).toEqual(names.length > 0 ? [link] : []);
      expect(receiver.trace(unlinked)[0]?.links).toEqual([]);
      const sent: Record<string, string> = {};
      const arrival = { name: 'GET /x', id, startMs: performance.now(), headers: {} };
      tracing.toBackend(tracing.forClient(arrival).root, sent);
      expect(
        Object.keys(sent)
          .map((name) => name.toLowerCase())
          .toSorted(),
      ).toEqual(names.toSorted());
      const traces = Object.entries(sent).filter(([name]) => !/sampled|spanid/i.test(name));
      for (const [, value] of traces) expect(value).toContain(id);
    },
  );

  it.each([
    ['parentbased_always_on', true, true],
    ['parentbased_always_on', false, false],
    ['parentbased_always_off', true, true],
    ['always_on', false, true],
    ['always_off', true, false],
    ['traceidratio', false, true],
  ])('sampled by %s, if the client records it: %s, is sent: %s', async (sampler, isSampled, isSent) => {
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER: sampler,
      SVC_TRACES_OF_CLIENTS: 'continue',
    });
    request(headersOf(isSampled));
    await telemetry?.stop();
    expect(receiver.trace(CLIENTS_TRACE).map(({ parentId }) => parentId)).toEqual(
      isSent ? [CLIENTS_SPAN] : [],
    );
  });
});

describe('a receiver that takes nothing', () => {
  const failures = (signal: string): number =>
    Number(
      new RegExp(`^svc_otlp_export_failures_total\\{svc_signal="${signal}"\\} (\\d+)`, 'm').exec(
        scrapedMetrics().text,
      )?.[1],
    );
  const linesWith = (message: string) =>
    warnings.filter(([text]) => text === message).map(([, members]) => members);

  it('shows in the metrics, and in one line of the log until it takes telemetry again', async () => {
    let status = 400;
    const server = createServer((incoming, response) => {
      incoming.resume().on('end', () => response.writeHead(status).end());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const before = failures('metrics');
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_TRACES_EXPORTER: 'none',
    });
    await eventually('several exports have failed', () => failures('metrics') > before + 2);
    expect(linesWith('the OTLP receiver takes no telemetry')).toMatchObject([{ signal: 'metrics' }]);
    status = 200;
    await eventually('it works again', () => linesWith('the OTLP receiver takes telemetry again').length > 0);
    expect(linesWith('the OTLP receiver takes no telemetry')).toHaveLength(1);
    server.close();
    server.closeAllConnections();
  });

  it.each(protocols)('or is not there shows for every signal, by %s', async (protocol) => {
    const before = ['traces', 'metrics', 'logs'].map(failures);
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_TRACES_SAMPLER: 'always_on',
    });
    request();
    await eventually('all have failed', () =>
      ['traces', 'metrics', 'logs'].every((signal, index) => failures(signal) > (before[index] ?? 0)),
    );
    const reasons = linesWith('the OTLP receiver takes no telemetry') as {
      signal: string;
      reason: string;
    }[];
    expect(reasons.map(({ signal }) => signal).toSorted()).toEqual(['logs', 'metrics', 'traces']);
    for (const { reason } of reasons) expect(reason).toMatch(/\w/);
    const stoppedMs = performance.now();
    await telemetry?.stop();
    expect(performance.now() - stoppedMs).toBeLessThan(10_000);
  });
});

describe("OpenTelemetry's libraries", () => {
  const PROGRAM = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { startTelemetry, telemetryConfig } = await import('@svc/telemetry');
    const { loadConfig } = await import('@svc/runtime');
    const log = { debug() {}, info() {}, warn() {} };
    const config = loadConfig(telemetryConfig('unit'), process.env);
    const running = await startTelemetry({ config, env: process.env, version: '1', log });
    console.log(loaded.filter((url) => url.includes('opentelemetry')).length);
    await running.stop();
  `;

  it('are loaded only if an endpoint is set', async () => {
    const loaded = async (env: Readonly<Record<string, string>>): Promise<number> => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--input-type=module', '--eval', PROGRAM],
        { cwd: new URL('../..', import.meta.url), env: { ...process.env, ...env } },
      );
      return Number(stdout);
    };
    expect(await loaded({ OTEL_SDK_DISABLED: 'false', OTEL_TRACES_SAMPLER: 'always_on' })).toBe(0);
    expect(await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).toBeGreaterThan(10);
  });
});

describe('a deployment', () => {
  it('sends every signal by gRPC and continues traces of b3', async () => {
    const platform = await Platform.start({
      env: {
        ...receiver.settings,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.grpcUrl,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_PROPAGATORS: 'b3',
        SVC_TRACES_OF_CLIENTS: 'continue',
      },
    });
    const { apiKey } = await platform.account();
    const body = { model: 'test-model', messages: [{ role: 'user', content: 'hello' }] };
    const headers = { b3: `${CLIENTS_TRACE}-${CLIENTS_SPAN}-1` };
    expect((await platform.chat(apiKey, body, { headers })).status).toBe(200);
    const root = () => receiver.trace(CLIENTS_TRACE).find(({ parentId }) => parentId === CLIENTS_SPAN);
    const line = () => receiver.lines.find(({ traceId }) => traceId === CLIENTS_TRACE);
    await eventually('all signals have come', () => Boolean(root() && line()) && receiver.metrics.length > 0);
    expect(new Set(receiver.requests.map(({ protocol }) => protocol))).toEqual(new Set(['grpc']));
    await platform.stop();
  });
});

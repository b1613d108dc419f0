import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CATALOGUE } from '@svc/telemetry';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../response-bodies.js';
import { OtlpReceiver, type ReceivedMetric } from '../otlp-receiver.js';
import { Platform } from '../platform.js';
import { isClustered } from '../target.js';

/** Texts of clients and backends, each with a unique word. */
const MARK = {
  prompt: 'planted-prompt-7d1f',
  answer: 'planted-answer-3b9c',
  backend: 'planted-words-of-a-backend-5e2a',
  file: 'planted-file-content-91ac',
  fileName: 'planted-file-name-4f0d',
  image: 'planted-image-host-77aa',
  tool: 'planted-tool-argument-0c6b',
  model: 'planted-model-e8d2',
  key: 'SVC_INFERENCE_KEY_planted-wrong-key-c4f7',
  header: 'planted-header-a1b3',
  agent: 'planted-agent-6d5e',
  query: 'planted-query-2c8f',
  path: 'planted-path-b90e',
  user: 'planted-user-f17a',
};
const ADDRESS = '203.0.113.77';

const file = (text: string): string => `data:text/plain;base64,${Buffer.from(text).toString('base64')}`;

function messages(): object[] {
  return [
    { role: 'system', content: `${MARK.prompt} of the system` },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'look', arguments: JSON.stringify({ q: MARK.tool }) },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: MARK.tool },
    {
      role: 'user',
      content: [
        { type: 'text', text: MARK.prompt },
        { type: 'file', file: { filename: `${MARK.fileName}.txt`, file_data: file(MARK.file) } },
      ],
    },
  ];
}

/** Completes, and at times fails with an error that quotes the request and unique words. */
function startBackend(): Promise<TestServer> {
  return TestServer.start((request, response) => {
    let body = '';
    request.on('data', (bytes: Buffer) => (body += bytes.toString()));
    request.on('end', () => {
      const status = Number(/fail-(\d+)/.exec(body)?.[1] ?? 200);
      const choice = {
        index: 0,
        message: { role: 'assistant', content: MARK.answer },
        finish_reason: 'stop',
      };
      const error = { message: `${MARK.backend}: ${body}`, type: MARK.backend, code: MARK.backend };
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status === 200 ? { id: 'x', choices: [choice] } : { error }));
    });
  });
}

/** The services that export telemetry: all of the deployment. */
const SENDERS = isClustered()
  ? [
      'api-gateway',
      'billing-ledger',
      'inference-router',
      'media-worker',
      'rate-limiter',
      'retrieval-worker',
      'x402-payments',
    ]
  : ['all'];

const CUMULATIVE = 2;

let receiver: OtlpReceiver;
let backend: TestServer;
let platform: Platform;
let apiKey: string;
let accountId: string;
let statuses: readonly number[];
const startedMs = Date.now();

beforeAll(async () => {
  receiver = await OtlpReceiver.start();
  backend = await startBackend();
  platform = await Platform.start({
    models: [{ id: 'scripted', backends: [{ url: `${backend.url}/v1`, model: 'x' }] }],
    env: {
      ...receiver.settings,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=tests',
      GATEWAY_TRUSTED_PROXIES: 'loopback',
    },
  });
  ({ apiKey, id: accountId } = await platform.account());
  statuses = await everythingPlanted();
  await eventually(
    'spans, metrics and lines have come',
    () => receiver.spans.length > 40 && receiver.bytes.length > 8 && requestLines().length >= 10,
  );
  // Logs are buffered for a second.
  await sleep(1_500);
});

afterAll(async () => {
  await platform?.stop();
  await backend?.close();
  receiver?.close();
});

const requestLines = () => receiver.lines.filter(({ body }) => body === 'request');

/** Sends all kinds of requests, with markers in all inputs; returns the statuses of the completions. */
async function everythingPlanted(): Promise<number[]> {
  const init = {
    headers: {
      'x-forwarded-for': ADDRESS,
      'x-planted': MARK.header,
      'user-agent': MARK.agent,
      cookie: MARK.header,
    },
  };
  const ask = async (body: object, key = apiKey): Promise<number> => {
    const whole = { model: 'scripted', user: MARK.user, messages: messages(), ...body };
    const response = await platform.chat(key, whole, init);
    await response.text();
    return response.status;
  };
  const failing = (status: number) => ({
    messages: [...messages(), { role: 'user', content: `fail-${status} ${MARK.prompt}` }],
  });
  const image = [{ type: 'image_url', image_url: { url: `http://${MARK.image}.invalid/x.png` } }];
  const statuses = [
    await ask({}),
    await ask({ model: 'test-model', stream: true }),
    await ask({ model: MARK.model }),
    await ask({ temperature: MARK.prompt }),
    await ask({}, MARK.key),
    await ask(failing(400)),
    await ask(failing(500)),
    await ask({ messages: [{ role: 'user', content: image }] }),
  ];
  for (const url of [
    `${platform.apiUrl}/models?type=${MARK.query}`,
    `${platform.rootUrl}/${MARK.path}?${MARK.query}`,
  ])
    await (await fetch(url, { headers: { ...init.headers, authorization: `Bearer ${apiKey}` } })).text();
  return statuses;
}

it('spans, metrics and logs contain no texts, addresses or keys of clients and backends', async () => {
  expect(statuses).toEqual([200, 200, 404, 400, 401, 400, 500, 400]);
  const log = await platform.log();
  expect(log).toContain('"trace_id"');
  const sha = hash('sha256', apiKey, 'buffer');
  const secrets = [...Object.values(MARK), ADDRESS, apiKey, sha.toString('hex'), sha.toString('base64')];
  const texts = { sent: Buffer.concat(receiver.bytes).toString('latin1'), log };
  const found = Object.entries(texts).flatMap(([where, text]) =>
    secrets.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${where}`),
  );
  expect(found).toEqual([]);
  for (const sender of SENDERS) expect(texts.sent).toContain(sender);
});

/** The resource attributes of a sender: nothing about the machine. */
const RESOURCE = {
  'service.name': expect.stringMatching(new RegExp(`^(${SENDERS.join('|')})$`)) as string,
  'service.version': expect.stringMatching(/^[\d.]+$/) as string,
  'service.instance.id': expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/) as string,
  'deployment.environment.name': 'tests',
  'telemetry.sdk.language': 'nodejs',
  'telemetry.sdk.name': 'opentelemetry',
  'telemetry.sdk.version': expect.stringMatching(/^\d/) as string,
};

describe('metrics by OTLP', () => {
  const latestOf = (): readonly ReceivedMetric[] => [
    ...new Map(
      receiver.metrics.map((metric) => [
        `${String(metric.resource['service.instance.id'])} ${metric.name}`,
        metric,
      ]),
    ).values(),
  ];

  it('have the names, units, labels and boundaries of the catalogue, and are cumulative', () => {
    const catalogue = new Map(CATALOGUE.map((metric) => [metric.descriptor.name, metric]));
    for (const { name, help, unit, kind, temporality, isMonotonic, points } of latestOf()) {
      const metric = catalogue.get(name);
      // OTLP has one kind for counters and for what adds up over processes.
      const isSum = metric?.descriptor.addsUp === true;
      expect([name, help, unit, kind]).toEqual([
        metric?.descriptor.name,
        metric?.descriptor.help,
        metric?.descriptor.unit,
        isSum ? 'counter' : metric?.kind,
      ]);
      expect([name, temporality]).toEqual([name, kind === 'gauge' ? undefined : CUMULATIVE]);
      expect([name, isMonotonic ?? false]).toEqual([name, metric?.kind === 'counter']);
      const boundaries = metric?.kind === 'histogram' ? [...metric.boundaries] : undefined;
      for (const point of points) {
        const { labels = [], constants = {} } = metric?.descriptor ?? {};
        const known = [...Object.keys(constants), ...labels];
        expect([name, ...known]).toEqual(expect.arrayContaining([name, ...Object.keys(point.attributes)]));
        expect(point.attributes).toMatchObject(constants);
        expect([name, point.boundaries]).toEqual([name, boundaries]);
        expect(point.startMs).toBeLessThanOrEqual(point.atMs);
        expect(point.value).not.toBeNaN();
      }
    }
  });

  it('come from every process, with its name and nothing about its machine', () => {
    const distinct = new Set(latestOf().map(({ resource }) => JSON.stringify(resource)));
    const resources = [...distinct].map((text) => JSON.parse(text) as Record<string, string>);
    for (const resource of resources) expect(resource).toEqual(RESOURCE);
    const names = resources.map((resource) => resource['service.name']);
    expect(new Set(names)).toEqual(new Set(SENDERS));
  });

  /** The last metrics of each process. */
  const points = () => latestOf().flatMap(({ name, points: of }) => of.map((point) => ({ name, ...point })));
  const answered = () =>
    points().filter(
      ({ name, attributes }) =>
        name === 'http.server.request.duration' &&
        attributes['http.route'] === '/api/v1/chat/completions' &&
        attributes['http.response.status_code'] === '200',
    );

  it('describe events, and never whom they concern', async () => {
    // Each gateway reports its own.
    const counted = (): number => answered().reduce((all, { value }) => all + value, 0);
    await eventually('both answers are counted', () => counted() === 2);
    for (const { counts = [], value, sum, startMs } of answered()) {
      expect(counts.reduce((all, count) => all + count)).toBe(value);
      expect(sum).toBeGreaterThan(0);
      expect(startMs).toBeGreaterThan(startedMs - 1_000);
    }
    const charged = points().filter(
      ({ name, attributes }) => name === 'svc.money.charged' && attributes['svc.currency'] === 'USD',
    );
    const models = charged.map(({ attributes }) => attributes['gen_ai.request.model']);
    expect(new Set(models)).toEqual(new Set(['scripted', 'test-model']));
    const values = new Set(points().flatMap(({ attributes }) => Object.values(attributes)));
    expect([...values].filter((value) => String(value).includes(accountId))).toEqual([]);
  });
});

describe('logs by OTLP', () => {
  it('contain the line of each request, with its severity, time and trace', () => {
    const lines = requestLines();
    const streamed = { route: '/api/v1/chat/completions', stream: true, model: 'test-model', accountId };
    const answered = lines.find(({ attributes }) =>
      Object.entries(streamed).every(([name, value]) => attributes[name] === value),
    );
    expect(answered).toMatchObject({ severity: 'INFO', severityNumber: 9, attributes: { status: '200' } });
    expect(answered?.atMs).toBeGreaterThan(startedMs - 1_000);
    const spans = receiver.trace(answered?.traceId ?? '');
    expect(spans.map(({ name }) => name)).toContain('POST /api/v1/chat/completions');
  });

  it('come from processes with their name and nothing about their machine', () => {
    const resources = new Set(receiver.lines.map(({ resource }) => JSON.stringify(resource)));
    expect(resources).not.toEqual(new Set());
    for (const resource of resources) expect(JSON.parse(resource)).toEqual(RESOURCE);
  });
});

import { randomBytes } from 'node:crypto';
import { LocalChain } from '@svc/infra';
import { TestServer } from '@svc/testing';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../response-bodies.js';
import { contractOf, contractSignIn } from '../contract-wallets.js';
import { OtlpReceiver, type ReceivedSpan } from '../otlp-receiver.js';
import { Platform } from '../platform.js';
import { isClustered } from '../target.js';
import { evmWallet } from '../wallets.js';

const CHAT = 'POST /api/v1/chat/completions';
const BODY = { model: 'test-model', messages: [{ role: 'user', content: 'Reply exactly: hello' }] };
const SEARCH = 'retrieval-worker: POST /internal/v1/retrieval/search';
const INFERENCE = 'inference-router: POST /internal/v1/inference';
const SIX = [
  'api-gateway',
  'billing-ledger',
  'inference-router',
  'rate-limiter',
  'retrieval-worker',
  'x402-payments',
];
const SERVICES = new Set(isClustered() ? SIX : ['all']);
const OTHERS_TRACE = '0af7651916cd43dd8448eb211c80319c';
const OTHERS_SPAN = 'b7ad6b7169203331';

let receiver: OtlpReceiver;
let platform: Platform;
let chain: LocalChain;
let engine: TestServer;

const FOUND = { results: [{ title: 'Tower', url: 'https://tower.example/', content: 'It is 330 m tall.' }] };

beforeAll(async () => {
  [receiver, chain, engine] = await Promise.all([
    OtlpReceiver.start(),
    LocalChain.start(),
    TestServer.start((_, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(FOUND));
    }),
  ]);
  platform = await Platform.start({
    models: [
      {
        id: 'second-try',
        backends: [
          { url: 'http://127.0.0.1:9/v1', model: 'x', weight: 1_000_000, name: 'away' },
          { url: 'http://127.0.0.1:9/v1', model: 'y', weight: 1_000_000, name: 'away-too' },
        ],
      },
    ],
    web: { search: { providers: [{ kind: 'searxng', url: engine.url }] }, extras: { webSearch: 0.01 } },
    env: {
      X402_EVM_RPC_URL: chain.url,
      X402_EVM_PAY_TO: evmWallet().address,
      X402_EVM_SIGNER_KEY: generatePrivateKey(),
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER_ARG: '1',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '300',
    },
  });
});

afterAll(async () => {
  await platform?.stop();
  receiver?.close();
  await Promise.all([chain?.stop(), engine?.close()]);
});

/** The trace of a request, once its first span and these others have arrived. */
async function traceOf(response: Response, ...names: string[]): Promise<ReceivedSpan[]> {
  const id = response.headers.get('cf-ray')?.slice(-32) ?? '';
  await response.text();
  await eventually(`the trace has ${names.join(', ')}`, () => {
    const there = new Set(receiver.trace(id).map(({ name }) => name));
    return names.every((name) => there.has(name));
  });
  return receiver.trace(id);
}

/** The service whose spans each path starts with. */
const GATEWAY = isClustered() ? 'api-gateway' : 'all';

/** Several charges are posted together, in a trace that is linked to those of the requests. */
const POSTING = ['', ' > set balances', ' > write books'].map(
  (part) => `${isClustered() ? 'billing-ledger' : 'all'}: process usage.recorded.v1${part}`,
);

/** A step of the gateway, with the work of another process for it, if there are others. */
const step = (name: string, ...beyond: readonly string[]): string[] =>
  [name, ...(isClustered() ? beyond.map((_, at) => [name, ...beyond.slice(0, at + 1)].join(' > ')) : [])].map(
    (path) => `${GATEWAY}: ${CHAT} > ${path}`,
  );

/** A step of another process, which belongs to the gateway if there is only one process. */
const innermost = (step: string, process: string, name: string): string =>
  `${GATEWAY}: ${CHAT} > ${step} > ${isClustered() ? `${process} > ` : ''}${name}`;

/** Spans that start before their parent. Clocks of processes differ, by less than a second. */
function early(spans: readonly ReceivedSpan[]): ReceivedSpan[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  return spans.filter(({ parentId, startMs }) => startMs < (byId.get(parentId)?.startMs ?? 0) - 1_000);
}

/** The names of attributes that were exported without a value. */
const emptyOf = (attributes: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(attributes).filter((name) => (attributes[name] ?? '') === '');

/** The trace in which the charge of another trace was posted. */
async function postingOf(spans: readonly ReceivedSpan[]): Promise<readonly ReceivedSpan[]> {
  const sent = spans.find(({ name }) => name === 'send usage.recorded.v1');
  const link = `${sent?.traceId} ${sent?.spanId}`;
  const posting = (): readonly ReceivedSpan[] => {
    const led = receiver.spans.find(({ links }) => links.includes(link));
    return led ? receiver.trace(led.traceId) : [];
  };
  await eventually('the charge is posted', () => posting().length >= POSTING.length);
  return posting();
}

/** Each span as a path from the root, with its process where that changes. */
function paths(spans: readonly ReceivedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const path = (span: ReceivedSpan): string => {
    const parent = byId.get(span.parentId);
    const name = parent && parent.service === span.service ? span.name : `${span.service}: ${span.name}`;
    if (parent) return `${path(parent)} > ${name}`;
    return span.parentId === '' ? name : `? > ${name}`;
  };
  return spans.map(path).toSorted();
}

describe('the trace of a chat completion', () => {
  it('has every step of a stream in one tree, with its attributes', async () => {
    const { apiKey, id } = await platform.account();
    const response = await platform.chat(apiKey, { ...BODY, stream: true });
    const spans = await traceOf(response, CHAT, 'settle', 'correct limits', 'chat test-model');
    expect(spans.filter(({ parentId }) => parentId === '').map(({ name }) => name)).toEqual([CHAT]);
    expect(spans.find(({ name }) => name === CHAT)).toMatchObject({
      kind: 2,
      error: undefined,
      attributes: {
        'http.route': '/api/v1/chat/completions',
        'http.response.status_code': '200',
        'svc.account.id': id,
        'gen_ai.request.model': 'test-model',
        'gen_ai.request.stream': true,
      },
    });
    expect(spans.find(({ name }) => name === 'chat test-model')).toMatchObject({
      kind: 3,
      events: ['first chunk'],
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'svc',
        'gen_ai.request.model': 'test-model',
        'gen_ai.request.stream': true,
      },
    });
    for (const { name, attributes } of spans) expect([name, ...emptyOf(attributes)]).toEqual([name]);
  });

  it('covers all services in one tree, with a contract wallet, a web search and a streamed completion', async () => {
    const owner = evmWallet();
    const address = await contractOf(chain, owner.address);
    const opened = await platform.operator('POST', '/accounts', { name: 'contract', wallet: address });
    const credit = { usd: '1.00', reference: 'start' };
    await platform.operator('POST', `/accounts/${String(opened.body['id'])}/credits`, credit);
    const response = await fetch(`${platform.apiUrl}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'SIGN-IN-WITH-X': await contractSignIn(platform.rootUrl, { address }, owner),
      },
      body: JSON.stringify({ ...BODY, stream: true, svc_parameters: { enable_web_search: 'on' } }),
    });
    const traceId = response.headers.get('cf-ray')?.slice(-32) ?? '';
    expect(await response.text()).toContain('data: [DONE]');
    const steps = [
      `${GATEWAY}: ${CHAT}`,
      ...step('authenticate', 'x402-payments: hasSigned'),
      ...step('receive'),
      ...step('admit', 'rate-limiter: admit'),
      ...step('hold', 'billing-ledger: hold'),
      ...step('research', SEARCH),
      innermost('research', SEARCH, 'search searxng'),
      ...step('prepare'),
      ...step('infer', INFERENCE),
      innermost('infer', INFERENCE, 'chat test-model'),
      ...step('deliver'),
      ...step('settle', 'billing-ledger: settle'),
      ...step('settle > send usage.recorded.v1'),
      ...step('correct limits', 'rate-limiter: settle'),
    ];
    await eventually('the trace is there', () => receiver.trace(traceId).length >= new Set(steps).size);
    const spans = receiver.trace(traceId);
    expect(paths(spans)).toEqual([...new Set(steps)].toSorted());
    expect(early(spans)).toEqual([]);
    expect(spans.filter(({ error }) => error !== undefined)).toEqual([]);
    const posting = await postingOf(spans);
    expect(paths(posting)).toEqual(POSTING);
    expect(new Set([...spans, ...posting].map(({ service }) => service))).toEqual(SERVICES);
  });

  it('leads to the posting of its charge, which is a separate trace', async () => {
    const { apiKey } = await platform.account();
    const spans = await traceOf(await platform.chat(apiKey, BODY), CHAT, 'send usage.recorded.v1');
    expect(spans.find(({ name }) => name === 'send usage.recorded.v1')?.kind).toBe(4);
    const posting = (await postingOf(spans)).find(({ parentId }) => parentId === '');
    expect(posting).toMatchObject({ name: 'process usage.recorded.v1', kind: 5 });
  });

  it('has a span for every backend call, and shows which failed', async () => {
    const { apiKey } = await platform.account();
    const response = await platform.chat(apiKey, { ...BODY, model: 'second-try' });
    expect(response.status).toBeGreaterThanOrEqual(500);
    const spans = await traceOf(response, CHAT, 'chat second-try');
    const attempts = spans.filter(({ name }) => name === 'chat second-try');
    expect(attempts.map(({ attributes }) => attributes['svc.attempt'])).toEqual(['1', '2']);
    for (const { error } of attempts) expect(error).toBeDefined();
    expect(spans.find(({ name }) => name === CHAT)?.error).toBeDefined();
  });

  it('is a separate trace with a link to that of the client', async () => {
    const { apiKey } = await platform.account();
    const headers = { traceparent: `00-${OTHERS_TRACE}-${OTHERS_SPAN}-01` };
    const spans = await traceOf(await platform.chat(apiKey, BODY, { headers }), CHAT);
    const root = spans.find(({ name }) => name === CHAT);
    expect(root).toMatchObject({ parentId: '', links: [`${OTHERS_TRACE} ${OTHERS_SPAN}`] });
    expect(receiver.trace(OTHERS_TRACE)).toEqual([]);
  });
});

describe('the trace of a client whose traces are trusted', () => {
  let trusting: Platform;

  beforeAll(async () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER_ARG: '0',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      SVC_TRACES_OF_CLIENTS: 'continue',
    };
    trusting = await Platform.start({ env });
  });

  afterAll(() => trusting?.stop());

  it('leads from its `traceparent` to the posting of the charge, which has a link to it', async () => {
    const { apiKey } = await trusting.account();
    const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    const headers = { traceparent: `00-${traceId}-${spanId}-01` };
    const response = await trusting.chat(apiKey, { ...BODY, stream: true }, { headers });
    expect(await response.text()).toContain('data: [DONE]');
    const names = [CHAT, 'chat test-model', 'settle', 'send usage.recorded.v1'];
    const exported = () => new Set(receiver.trace(traceId).map(({ name }) => name));
    await eventually(`the trace has ${names.join(', ')}`, () => names.every((name) => exported().has(name)));
    const spans = receiver.trace(traceId);
    expect(spans.find(({ name }) => name === CHAT)).toMatchObject({ parentId: spanId, links: [] });
    await eventually('every span has its parent', () => {
      const there = receiver.trace(traceId);
      const known = new Set([spanId, ...there.map((span) => span.spanId)]);
      return there.every(({ parentId }) => known.has(parentId));
    });
    // The query of docs/traces-and-logs.md: { name = "process usage.recorded.v1" && link:traceID = "…" }
    const postings = () =>
      receiver.spans.filter(
        ({ name, links }) =>
          name === 'process usage.recorded.v1' && links.some((link) => link.startsWith(`${traceId} `)),
      );
    await eventually('the charge is posted', () => postings().length > 0);
    const [posting] = await postingOf(spans);
    expect(postings().map((span) => span.traceId)).toEqual([posting?.traceId]);
  });

  it('is not recorded if the client does not record it', async () => {
    const { apiKey } = await trusting.account();
    const traceId = randomBytes(16).toString('hex');
    const headers = { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-00` };
    await (await trusting.chat(apiKey, BODY, { headers })).text();
    const recorded = randomBytes(16).toString('hex');
    const sampled = { traceparent: `00-${recorded}-${randomBytes(8).toString('hex')}-01` };
    await (await trusting.chat(apiKey, BODY, { headers: sampled })).text();
    await eventually('the later trace is there', () => receiver.trace(recorded).length > 0);
    const spans = receiver.trace(traceId);
    // One in which a call between services failed, as on a busy machine, is kept for that.
    const isKept = spans.some(({ attributes }) => attributes['svc.kept'] !== undefined);
    expect(isKept ? [] : spans).toEqual([]);
  });
});

describe('the metrics of a chat completion', () => {
  const MEASURED: readonly (readonly [metric: string, attributes: Readonly<Record<string, unknown>>])[] = [
    ['http.server.request.duration', { 'http.route': '/api/v1/chat/completions' }],
    ['gen_ai.server.request.duration', { 'gen_ai.request.model': 'test-model' }],
    ['gen_ai.server.time_to_first_token', { 'gen_ai.request.model': 'test-model' }],
    ['gen_ai.client.operation.duration', { 'gen_ai.request.model': 'test-model' }],
    ['gen_ai.client.operation.time_to_first_chunk', { 'gen_ai.request.model': 'test-model' }],
  ];

  it('have exemplars that link to its trace, by OTLP', async () => {
    const { apiKey } = await platform.account();
    const spans = await traceOf(
      await platform.chat(apiKey, { ...BODY, stream: true }),
      CHAT,
      'chat test-model',
    );
    const { traceId = '' } = spans[0] ?? {};
    for (const [metric, attributes] of MEASURED) {
      const points = () =>
        receiver.metrics
          .filter(({ name }) => name === metric)
          .flatMap((of) => of.points)
          // Other processes measure their own requests of the same trace.
          .filter(({ attributes: of }) =>
            Object.entries(attributes).every(([name, value]) => of[name] === value),
          )
          .filter(({ exemplars }) => exemplars.some((exemplar) => exemplar.traceId === traceId));
      await eventually(`${metric} names the trace`, () => points().length > 0);
      for (const { exemplars } of points()) {
        for (const { traceId: id, spanId, value } of exemplars.filter((each) => each.traceId === traceId)) {
          const span = receiver.trace(id).find((each) => each.spanId === spanId);
          expect([metric, span?.spanId]).toEqual([metric, spanId]);
          expect(value * 1_000).toBeLessThan((span?.endMs ?? 0) - (span?.startMs ?? 0) + 50);
        }
      }
    }
  });

  it('have the attributes that the conventions for generative AI require, and no empty one', async () => {
    const { apiKey } = await platform.account();
    await traceOf(await platform.chat(apiKey, { ...BODY, stream: true }), CHAT);
    const named = () => new Set(receiver.metrics.map(({ name }) => name));
    await eventually('the metrics are exported', () => MEASURED.every(([name]) => named().has(name)));
    const points = receiver.metrics.flatMap((metric) =>
      metric.points.map((point) => ({ ...metric, ...point })),
    );
    for (const { name, attributes } of points) expect([name, ...emptyOf(attributes)]).toEqual([name]);
    const generative = points.filter(({ name }) => name.startsWith('gen_ai.'));
    for (const { name, attributes } of generative)
      expect({ name, ...attributes }).toMatchObject({
        name,
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'svc',
        'gen_ai.request.model': expect.any(String),
      });
  });
});

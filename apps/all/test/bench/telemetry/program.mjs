// Started by `telemetry-parts`: completions that do nothing but record telemetry, at a steady rate. The
// environment decides whether it is exported: with an OTLP endpoint all of it, without one the minimum.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  SPAN_KIND,
  beginStep,
  inStep,
  inference,
  scrapedMetrics,
  money,
  neighbours,
  requests,
  router,
  startTelemetry,
  telemetryConfig,
  traced,
  tracing,
} from '@svc/telemetry';
import { z } from 'zod';

const TURN_MS = 10;
const SCRAPE_MS = 1_000;

/** Counts the metrics of a streamed completion, of all processes together. */
function countOne(startMs) {
  for (const call of ['hold', 'extend', 'settle'])
    money.callDuration.record((performance.now() - startMs) / 1_000, call, '');
  money.settlements.add(1, 'log');
  money.charged.add(0.001, 'USD', 'a-model');
  router.attempts.add(1, 'a-model', 'backend-1', 'answered');
  router.firstChunk.record(0.01, 'a-model', 'backend-1');
  for (const path of ['/internal/admit', '/internal/hold', '/internal/infer'])
    neighbours.calls.record((performance.now() - startMs) / 1_000, path, '');
  router.duration.record(0.2, 'a-model', 'backend-1', '');
  inference.tokens.record(20, 'a-model', 'backend-1', 'input');
  inference.tokens.record(100, 'a-model', 'backend-1', 'output');
  inference.firstToken.record(0.01, 'a-model', 'backend-1');
  inference.perToken.record(0.001, 'a-model', 'backend-1');
  inference.duration.record(0.2, 'a-model', '');
  requests.duration.record((performance.now() - startMs) / 1_000, 'POST', '/api/v1/chat/completions', '200');
}

/** A wait, as in each step of a request. */
const work = () => Promise.resolve();

/** The steps of a completion in one process, with the waits in between. */
async function completion(id) {
  const startMs = performance.now();
  const trace = tracing.forClient({
    name: 'POST /api/v1/chat/completions',
    id,
    startMs,
    headers: {},
  });
  const { root } = trace;
  root.begin('authenticate')?.end();
  root.begin('receive')?.end();
  await inStep(root, async () => {
    await Promise.all([traced('admit', work), traced('hold', work)]);
    await traced('prepare', work);
    const call = beginStep('chat a-model');
    if (call) call.kind = SPAN_KIND.client;
    call?.set({ 'gen_ai.request.model': 'a-model', 'server.address': 'backend-1' });
    await traced('deliver', work);
    call?.end();
    const sent = beginStep('send usage');
    sent?.set({ 'messaging.system': 'kafka', 'messaging.destination.name': 'usage' });
    await work();
    sent?.end();
    await traced('correct limits', work);
  });
  if (isCounting) countOne(startMs);
  tracing.end(trace, {
    failed: false,
    waitedMs: performance.now() - startMs,
    describe: () => ({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'svc.account.id': id,
    }),
  });
}

/** As many completions as the rate requires in that time; microseconds of CPU of each. */
async function round(perSecond, seconds) {
  const before = process.cpuUsage();
  const startMs = performance.now();
  const all = perSecond * seconds;
  let scrapedMs = startMs;
  for (let done = 0; done < all;) {
    const nowMs = performance.now();
    for (const due = Math.min(all, ((nowMs - startMs) / 1_000) * perSecond); done < due; done += 1)
      await completion(idOf(done));
    if (isCounting && nowMs - scrapedMs >= SCRAPE_MS) {
      scrapedMs = nowMs;
      scrapedMetrics();
    }
    await sleep(TURN_MS);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / all;
}

/** 32 hex digits, the last 14 uniformly distributed, like those of requests. */
const idOf = (at) =>
  `${at.toString(16).padStart(18, '0')}${Math.floor(Math.random() * 2 ** 52)
    .toString(16)
    .padStart(14, '0')}`;

const isCounting = process.env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
const config = z.object(telemetryConfig('bench')).parse(process.env);
const log = { debug() {}, info() {}, warn: console.error };
if (isCounting) await startTelemetry({ config, env: process.env, version: '0', log });
process.on('message', ({ perSecond, seconds }) => {
  void round(perSecond, seconds).then((micros) => process.send({ micros }));
});
process.once('disconnect', () => process.exit());
process.send({});

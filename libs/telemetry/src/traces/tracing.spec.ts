import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contracts/problems';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readTraceparent, traceparentOf } from './trace-context.js';
import { beginStep, currentStep, inStep, type Step, traced, untraced } from './trace.js';
import { type TracingSettings, tracing } from './tracing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const REMOTE = `00-${TRACE}-b7ad6b7169203331-01`;
const ID = '0199f0a0c1c07e0aa5c4b1d3f2e1a0b9';
const NOTHING: TracingSettings = {
  ratio: 0,
  slowMs: 1_000,
  keptPerSecond: 2,
  continuesClients: false,
  asksParent: true,
  propagation: {
    extract: ({ traceparent }) => readTraceparent(traceparent),
    inject: (span, headers) => void (headers['traceparent'] = traceparentOf(span)),
  },
};

const taken: Step[] = [];
let end: () => void = () => undefined;

function record(settings: Partial<TracingSettings> = {}): void {
  end = tracing.record({ ...NOTHING, ...settings }, { take: (step) => void taken.push(step) });
}

afterEach(() => {
  end();
  taken.length = 0;
});

const begin = (traceparent?: string) =>
  tracing.forClient({ name: 'GET /x', id: ID, startMs: performance.now(), headers: { traceparent } });
const names = (): string[] => taken.map(({ name }) => name);

describe('the exported traces', () => {
  it('include sampled requests, with each step under the one that it was begun in', async () => {
    record({ ratio: 1 });
    const trace = begin();
    await tracing.run(trace, () => traced('outer', () => traced('inner', () => sleep(1))));
    expect(names()).toEqual(['GET /x', 'outer', 'inner']);
    const [root, outer, inner] = taken;
    expect([outer?.parent, inner?.parent]).toEqual([root, outer]);
    expect(trace.id).toBe(ID);
  });

  it('leave out a request that is not sampled, succeeded and was fast', async () => {
    record();
    await tracing.run(begin(), () => traced('step', () => sleep(1)));
    expect(taken).toEqual([]);
  });

  it('include requests that failed, had a failed step or were slow, sampled or not', async () => {
    record({ keptPerSecond: 100 });
    tracing.end(begin(), { failed: true, waitedMs: 0 });
    tracing.end(begin(), { failed: false, waitedMs: 1_001 });
    const failing = traced.bind(undefined, 'attempt', () => Promise.reject(new Problem('INFERENCE_FAILED')));
    await tracing.run(begin(), () => (failing() as Promise<void>).catch(() => undefined));
    expect(taken.map(({ name, error }) => [name, error])).toEqual([
      ['GET /x', undefined],
      ['GET /x', undefined],
      ['GET /x', undefined],
      ['attempt', 'INFERENCE_FAILED'],
    ]);
    expect(taken.map(({ attributes }) => attributes?.['svc.kept'])).toEqual([
      'failed',
      'slow',
      'failed',
      undefined,
    ]);
  });

  it('leave out client errors and disconnects', async () => {
    record();
    const gone = Object.assign(new Error('gone'), { name: 'AbortError' });
    for (const error of [new Problem('INSUFFICIENT_BALANCE'), gone]) {
      const refused = tracing.run(begin(), () => traced('hold', () => Promise.reject(error)));
      await expect(refused).rejects.toBe(error);
    }
    expect(taken).toEqual([]);
  });

  it('are limited in number per second, so that an outage does not flood their receiver', () => {
    record({ keptPerSecond: 2 });
    for (let at = 0; at < 50; at += 1) tracing.end(begin(), { failed: false, waitedMs: 2_000 });
    expect(taken.length).toBeLessThan(10);
    const slow = taken.length;
    for (let at = 0; at < 50; at += 1) tracing.end(begin(), { failed: true, waitedMs: 0 });
    expect(taken.length - slow).toBeGreaterThanOrEqual(2);
    expect(taken.length - slow).toBeLessThan(10);
  });

  it('include steps that end after the request, if the request was exported', () => {
    record({ ratio: 1 });
    const trace = begin();
    const step = trace.root.begin('behind the answer');
    tracing.end(trace, { failed: false, waitedMs: 0 });
    expect(names()).toEqual(['GET /x']);
    step?.end();
    expect(names()).toEqual(['GET /x', 'behind the answer']);
  });

  it('are limited in steps, and count those left out', () => {
    record({ ratio: 1 });
    const trace = begin();
    for (let at = 0; at < 200; at += 1) trace.root.begin('extend hold')?.end();
    tracing.end(trace, { failed: false, waitedMs: 0 });
    expect(taken).toHaveLength(129);
    expect(trace.root.attributes?.['svc.steps.left_out']).toBe(72);
  });
});

describe('the exemplar span of a measurement', () => {
  it('is present once it is certain to be exported, and not before', () => {
    record({ keptPerSecond: 100 });
    const [quick, failed] = [begin(), begin()];
    expect([quick.measured, failed.measured]).toEqual([undefined, undefined]);
    tracing.end(quick, { failed: false, waitedMs: 0 });
    tracing.end(failed, { failed: true, waitedMs: 0 });
    expect(quick.measured).toBeUndefined();
    expect(failed.measured).toMatchObject({ traceId: ID, spanId: failed.root.spanId });
    end();
    record({ ratio: 1 });
    const sampled = begin();
    expect(sampled.measured).toMatchObject({ traceId: ID, spanId: sampled.root.spanId });
  });

  it('is absent if nothing is exported', () => {
    expect(begin().measured).toBeUndefined();
  });
});

describe('the trace of a client', () => {
  it('is linked, and does not decide the sampling', () => {
    record();
    const trace = begin(REMOTE);
    expect(trace.origin).toMatchObject({ traceId: ID, isSampled: false });
    expect(trace.origin.links).toMatchObject([{ traceId: TRACE }]);
  });

  it('is continued, and decides the sampling, if that is configured', () => {
    record({ continuesClients: true });
    expect(begin(REMOTE).origin).toMatchObject({ traceId: TRACE, isSampled: true });
  });
});

describe('a sampler that asks no parent', () => {
  it('decides by the trace id alone, for traces of clients and of neighbours', () => {
    for (const ratio of [0, 1]) {
      record({ ratio, asksParent: false, continuesClients: true });
      for (const flags of ['00', '01']) {
        const traceparent = `00-${TRACE}-b7ad6b7169203331-${flags}`;
        const arrival = { name: 'GET /x', id: ID, startMs: 0, traceparent };
        const traces = [begin(traceparent), tracing.forNeighbour(arrival), tracing.forMessage(arrival)];
        for (const trace of traces)
          expect(trace?.origin).toMatchObject({ traceId: TRACE, isSampled: ratio === 1 });
      }
    }
  });
});

describe('the current step', () => {
  it('stays the same across awaits, and is absent in work that serves many requests', async () => {
    record({ ratio: 1 });
    const { root } = begin();
    await inStep(root, async () => {
      await sleep(1);
      expect(currentStep()).toBe(root);
      untraced(() => expect(beginStep('flush')).toBeUndefined());
    });
    expect(currentStep()).toBeUndefined();
  });

  it('is absent long after its request ended, in a loop that the request started', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      for (const ratio of [0, 1]) {
        record({ ratio });
        const trace = begin();
        tracing.end(trace, { failed: false, waitedMs: 0 });
        inStep(trace.root, () => {
          expect(currentStep()).toBe(trace.root);
          vi.advanceTimersByTime(6_000);
          expect(currentStep()).toBeUndefined();
          expect(beginStep('renew')).toBeUndefined();
        });
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('is passed to other processes even if nothing is recorded, so that logs share one trace id', () => {
    expect(begin().root.traceparent).toMatch(new RegExp(`^00-${ID}-[0-9a-f]{16}-00$`));
    expect(begin().root.begin('step')).toBeUndefined();
  });
});

import { describe, expect, it, vi } from 'vitest';
import { metricsText } from '../export/prometheus-text.js';
import { OTHER } from './metric-series.js';
import { Counter, Gauge, Histogram } from './metrics.js';

const descriptor = { name: 'svc.things', unit: '{thing}', help: 'Things.', labels: ['a', 'b'] } as const;

describe('a counter', () => {
  it('counts by labels, and returns the same instrument for the same values', () => {
    const counter = new Counter(descriptor);
    counter.add(1, 'x', 'y');
    counter.with('x', 'y').add(2);
    counter.add(5, 'xy', '');
    expect(counter.points()).toEqual([
      { values: ['x', 'y'], value: 3 },
      { values: ['xy', ''], value: 5 },
    ]);
  });

  it('ignores values that are not positive', () => {
    const counter = new Counter({ ...descriptor, labels: [] });
    for (const by of [1, Number.NaN, -5, 0]) counter.add(by);
    expect(counter.points()).toEqual([{ values: [], value: 1 }]);
  });

  it('starts at zero for the given series', () => {
    const counter = new Counter(descriptor, [['x', 'y']]);
    expect(counter.points()).toEqual([{ values: ['x', 'y'], value: 0 }]);
    expect(new Counter({ ...descriptor, labels: [] }).points()).toEqual([{ values: [], value: 0 }]);
  });

  it('limits its series, and counts all others together', () => {
    const counter = new Counter(descriptor);
    for (let i = 0; i < 5_000; i += 1) counter.add(1, 'x', `chosen by a client ${i}`);
    const points = counter.points();
    expect(points.length).toBe(1_001);
    expect(points.at(-1)).toEqual({ values: [OTHER, OTHER], value: 4_000 });
    expect(points.reduce((sum, { value }) => sum + value, 0)).toBe(5_000);
  });
});

describe('a gauge', () => {
  it('sums the values of several observers until they end, and ignores NaN', () => {
    const gauge = new Gauge({ ...descriptor, labels: ['a'] });
    gauge.set(1, 'x');
    const end = gauge.observe(() => [
      [2, 'x'],
      [4, 'y'],
      [Number.NaN, 'z'],
    ]);
    expect(gauge.points()).toEqual([
      { values: ['x'], value: 3 },
      { values: ['y'], value: 4 },
    ]);
    end();
    expect(gauge.points()).toEqual([{ values: ['x'], value: 1 }]);
  });
});

describe('a histogram', () => {
  it('counts a value at a boundary in the bucket below it', () => {
    const histogram = new Histogram({ ...descriptor, labels: [] }, [1, 2]);
    for (const value of [0, 1, 1.5, 2, 3, Number.NaN, -1]) histogram.record(value);
    const [point] = histogram.points();
    expect(point?.instrument).toMatchObject({ counts: [2, 2, 1], count: 5, sum: 7.5 });
  });
});

describe('the Prometheus text', () => {
  it('has names with units, escaped labels, and cumulative buckets', () => {
    const counter = new Counter({ ...descriptor, labels: ['svc.a'] });
    counter.add(2, 'quote " and \\ and\nline');
    const histogram = new Histogram({ name: 'x.wait', unit: 's', help: 'Wait.', labels: [] }, [0.5, 1]);
    histogram.record(0.2);
    histogram.record(2);
    const ratio = new Gauge({ name: 'x.share', unit: '1', help: 'Share.', labels: [] });
    ratio.set(0.25);
    const empty = new Gauge({ name: 'x.none', unit: '1', help: 'None.', labels: ['a'] });
    expect(metricsText([counter, histogram, ratio, empty]).text).toBe(
      `# HELP svc_things_total Things.
# TYPE svc_things_total counter
svc_things_total{svc_a="quote \\" and \\\\ and\\nline"} 2
# HELP x_wait_seconds Wait.
# TYPE x_wait_seconds histogram
x_wait_seconds_bucket{le="0.5"} 1
x_wait_seconds_bucket{le="1"} 1
x_wait_seconds_bucket{le="+Inf"} 2
x_wait_seconds_sum 2.2
x_wait_seconds_count 2
# HELP x_share_ratio Share.
# TYPE x_share_ratio gauge
x_share_ratio 0.25
`,
    );
  });

  it('has exemplars and an end marker in OpenMetrics, if a scraper prefers that', () => {
    const histogram = new Histogram({ name: 'x.wait', unit: 's', help: 'Wait.', labels: ['a'] }, [0.5]);
    const counter = new Counter({ ...descriptor, labels: [], constants: { 'svc.kind': 'k' } });
    const span = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
    vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_500 });
    histogram.with('v').record(0.2, { ...span, spanId: '0000000000000001' });
    histogram.with('v').record(0.25, span);
    histogram.with('v').record(0.3);
    vi.useRealTimers();
    const prefers =
      'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
    const { contentType, text } = metricsText([counter, histogram], prefers);
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(text).toBe(`# HELP svc_things Things.
# TYPE svc_things counter
svc_things_total{svc_kind="k"} 0
# HELP x_wait_seconds Wait.
# TYPE x_wait_seconds histogram
x_wait_seconds_bucket{a="v",le="0.5"} 3 # {trace_id="${span.traceId}",span_id="${span.spanId}"} 0.25 1700000000.5
x_wait_seconds_bucket{a="v",le="+Inf"} 3
x_wait_seconds_sum{a="v"} 0.75
x_wait_seconds_count{a="v"} 3
# EOF
`);
  });

  it("is in Prometheus's own format for everyone else", () => {
    const prefersText = 'text/plain;version=0.0.4,application/openmetrics-text;version=1.0.0;q=0.4';
    for (const accept of [undefined, '*/*', 'text/html', prefersText]) {
      const { contentType, text } = metricsText([new Counter({ ...descriptor, labels: [] })], accept);
      expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(text).toContain('# TYPE svc_things_total counter');
      expect(text).not.toContain('# EOF');
    }
  });
});

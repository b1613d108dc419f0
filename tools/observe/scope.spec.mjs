import { describe, expect, it } from 'vitest';
import { scoped, scopedToRelease } from './scope.mjs';

const LABELS = 'release="svc"';

describe('scoped', () => {
  it.each([
    ['up == 0', `up{${LABELS}} == 0`],
    [
      'sum by (job) (rate(svc_money_charged_total{svc_currency="USD"}[5m])) > 0.01',
      `sum by (job) (rate(svc_money_charged_total{svc_currency="USD",${LABELS}}[5m])) > 0.01`,
    ],
    [
      'svc_redis_up_ratio unless svc_redis_up_ratio offset 5m',
      `svc_redis_up_ratio{${LABELS}} unless svc_redis_up_ratio{${LABELS}} offset 5m`,
    ],
    [
      'slo:error_ratio:rate5m{slo="availability"} > bool 1',
      `slo:error_ratio:rate5m{slo="availability",${LABELS}} > bool 1`,
    ],
    [
      'gen_ai_server_time_to_first_token_seconds_bucket{le="2.5"} or vector(0)',
      `gen_ai_server_time_to_first_token_seconds_bucket{le="2.5",${LABELS}} or vector(0)`,
    ],
    ['svc_ledger_holds{a="up{}"}', `svc_ledger_holds{a="up{}",${LABELS}}`],
  ])('limits every selector of %s', (query, limited) => {
    expect(scopedToRelease(query)).toBe(limited);
  });

  it('passes the metric of a series to the matchers, and none for series that processes do not report', () => {
    const named = (metric) => `metric="${metric?.descriptor.name}"`;
    expect(scoped('svc_redis_up_ratio + up', named)).toBe(
      'svc_redis_up_ratio{metric="svc.redis.up"} + up{metric="undefined"}',
    );
  });

  it('refuses a name that is neither a series nor a PromQL keyword', () => {
    expect(() => scopedToRelease('max(svc_redis_down)')).toThrow('no series is called svc_redis_down');
  });
});

import { describe, expect, it } from 'vitest';
import { BackendHealth, type WaitingCall } from './backend-health.js';
import { outliersAmong } from './outliers.js';
import { mayRetry } from './retry-budget.js';

const PAUSE_MS = 60_000;

const call = (): WaitingCall => ({ startMs: performance.now(), giveUp: () => undefined });

/** A backend with this many calls of two accounts, of which some failed, begun after a time. */
function backendWith(calls: number, { failed = 0, beginMs = 10 } = {}): BackendHealth {
  const health = new BackendHealth();
  const nowMs = performance.now();
  for (let at = 0; at < calls; at += 1) {
    if (at < failed) health.recent.failed(`account-${at % 2}`, nowMs);
    else health.recent.succeeded(nowMs);
    health.recent.firstByteAfter(beginMs, nowMs);
  }
  return health;
}

const healthy = (count: number): BackendHealth[] => Array.from({ length: count }, () => backendWith(20));

describe('pauses', () => {
  it('become longer in a row, up to twelve times, and those that fail together are one', () => {
    const health = new BackendHealth();
    for (let at = 0; at < 10; at += 1) health.pause('failed', PAUSE_MS);
    expect(health.current?.restMs).toBeLessThanOrEqual(PAUSE_MS);
    const other = new BackendHealth();
    for (let at = 0; at < 50; at += 1) other.pause('failed', 0);
    other.pause('failed', PAUSE_MS);
    const rest = (other.current?.restMs ?? 0) / PAUSE_MS;
    expect(rest).toBeGreaterThan(11);
    expect(rest).toBeLessThanOrEqual(12);
  });

  it('follow a failure of the request only if it fails for two accounts in a row', () => {
    const health = new BackendHealth();
    const failure = { scope: 'account', reason: '500' } as const;
    expect(health.failed(failure, 'a', PAUSE_MS)).toBe(false);
    expect([health.isOn('a'), health.isOn('b')]).toEqual([true, false]);
    health.succeeded(call(), undefined);
    expect(health.failed(failure, 'b', PAUSE_MS)).toBe(false);
    expect(health.failed(failure, 'a', PAUSE_MS)).toBe(true);
    expect(health.isOn('c')).toBe(true);
  });
});

describe('checks', () => {
  it('take a backend down after three failures, and back after two successes and a real call', () => {
    const health = new BackendHealth();
    expect([1, 2, 3].map(() => health.missed('silent', 0))).toEqual([false, false, true]);
    health.checked(performance.now());
    expect(health.isDown).toBe(true);
    health.checked(performance.now());
    expect([health.isDown, health.isPaused]).toEqual([false, false]);
    const trial = call();
    health.began(trial);
    expect(health.isPaused).toBe(true);
    health.succeeded(trial, 10);
    expect(health.isPaused).toBe(false);
  });

  it('do not take a backend down that answers calls in between', () => {
    const health = new BackendHealth();
    for (let at = 0; at < 9; at += 1) {
      expect(health.missed('silent', 0)).toBe(false);
      health.succeeded(call(), undefined);
    }
  });
});

describe('outliers', () => {
  it('are those that fail more, or begin much later, than the others', () => {
    const failing = backendWith(20, { failed: 10 });
    const slow = backendWith(20, { beginMs: 2_000 });
    const found = outliersAmong([failing, slow, ...healthy(6)]);
    expect(found.map(({ health, reason }) => [health, reason])).toEqual([
      [failing, 'errors'],
      [slow, 'slow'],
    ]);
  });

  it('are at most half of the backends, with those that pause already', () => {
    const failing = Array.from({ length: 4 }, () => backendWith(20, { failed: 12 }));
    const quiet = healthy(4);
    expect(outliersAmong([...failing, ...quiet])).toHaveLength(4);
    for (const health of quiet.slice(0, 3)) health.pause('failed', PAUSE_MS);
    expect(outliersAmong([...failing, ...quiet])).toHaveLength(1);
  });

  it('are none while all do equally badly, one account alone has failures, or few calls were made', () => {
    const bad = (): BackendHealth => backendWith(20, { failed: 10, beginMs: 5_000 });
    expect(outliersAmong([bad(), bad(), bad()])).toEqual([]);
    const alone = backendWith(10);
    for (let at = 0; at < 20; at += 1) alone.recent.failed('a', performance.now());
    expect(outliersAmong([alone, ...healthy(3)])).toEqual([]);
    expect(outliersAmong([backendWith(4, { failed: 4 }), ...healthy(3)])).toEqual([]);
  });
});

describe('retries', () => {
  const candidate = (health: BackendHealth, inFlight: number) => ({ live: { health, inFlight } });

  it('are a fifth of the calls under way and three, once most backends pause', () => {
    const all = Array.from({ length: 4 }, () => new BackendHealth());
    for (const health of all) health.pause('failed', PAUSE_MS);
    const candidates = all.map((health) => candidate(health, 25));
    const [first] = candidates;
    const { health } = first?.live ?? { health: new BackendHealth() };
    const may = (retrying: number): boolean => {
      health.retrying = retrying;
      return mayRetry({ health, inFlight: 25 }, candidates);
    };
    expect([may(22), may(23)]).toEqual([true, false]);
  });

  it('that leave a backend which pauses are free while most work', () => {
    const all = Array.from({ length: 4 }, () => new BackendHealth());
    const candidates = all.map((health) => candidate(health, 1));
    const [first = new BackendHealth(), second = new BackendHealth()] = all;
    second.retrying = 100;
    expect(mayRetry({ health: first, inFlight: 1 }, candidates)).toBe(false);
    first.pause('failed', PAUSE_MS);
    expect(mayRetry({ health: first, inFlight: 1 }, candidates)).toBe(true);
  });
});

import { FAILURES_ALLOWED } from '@svc/contracts/ports';
import { expect, it } from 'vitest';
import { FailureCounts } from './failure-counts.js';

it('remembers the latest subjects up to its limit, however many others there are', () => {
  const counts = new FailureCounts({ failureWindowMs: 60_000, failureBlockMs: 60_000, elapsedMs: () => 1 });
  const block = (subject: string): void => {
    for (let time = 0; time <= FAILURES_ALLOWED; time += 1) counts.failed(subject);
  };
  block('ip:first');
  for (let index = 0; index < 99_999; index += 1) counts.failed(`ip:${index}`);
  expect(counts.blockedForMs('ip:first')).toBe(60_000);
  // It was read just now, so it is not evicted next.
  for (let index = 0; index < 99_999; index += 1) counts.failed(`ip:more-${index}`);
  expect(counts.blockedForMs('ip:first')).toBe(60_000);
  for (let index = 0; index < 100_000; index += 1) counts.failed(`ip:most-${index}`);
  expect(counts.blockedForMs('ip:first')).toBe(0);
});

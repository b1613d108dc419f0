import { type Admission, type FailureBlock, Limiter, type TakenLimits } from '@svc/contracts/ports';
import { expect, it } from 'vitest';
import { FailureBlocks } from './failure-blocks.js';

/** Blocks every subject for the given time and counts the calls. */
class BlockingLimiter extends Limiter {
  calls = 0;

  constructor(private readonly block: FailureBlock) {
    super();
  }

  override blocked(): Promise<FailureBlock> {
    this.calls += 1;
    return Promise.resolve(this.block);
  }

  override failed(): Promise<FailureBlock> {
    return this.blocked();
  }

  override admit(): Promise<Admission> {
    throw new Error('nobody is admitted here');
  }

  override settle(): Promise<void> {
    return Promise.resolve();
  }

  override peek(): Promise<TakenLimits> {
    return Promise.resolve({});
  }

  override release(): Promise<void> {
    return Promise.resolve();
  }
}

it('does not call the limiter while it has a block cached', async () => {
  const limiter = new BlockingLimiter({ forMs: 60_000 });
  const blocks = new FailureBlocks(limiter);
  expect(blocks.cachedForMs('ip:1')).toBe(0);
  expect(await blocks.blockedForMs('ip:1')).toBe(60_000);
  for (let time = 0; time < 100; time += 1) {
    expect(await blocks.blockedForMs('ip:1')).toBeGreaterThan(0);
    await blocks.failed('ip:1');
  }
  expect(limiter.calls).toBe(1);
  blocks.cache('ip:1', { forMs: Number.MIN_VALUE });
  expect(blocks.cachedForMs('ip:1')).toBe(0);
  expect(await blocks.blockedForMs('ip:1')).toBe(60_000);
  expect(limiter.calls).toBe(2);
});

it('calls the limiter each time for a subject without a cached block, since another process may have counted more failures', async () => {
  const limiter = new BlockingLimiter({});
  const blocks = new FailureBlocks(limiter);
  for (let time = 0; time < 3; time += 1) expect(await blocks.blockedForMs('key:1')).toBe(0);
  expect(limiter.calls).toBe(3);
});

it('caches a bounded number of blocks and keeps the latest ones', () => {
  const blocks = new FailureBlocks(new BlockingLimiter({}));
  for (let index = 0; index < 20_000; index += 1) blocks.cache(`ip:${index}`, { forMs: 60_000 });
  expect(blocks.cachedForMs('ip:9999')).toBe(0);
  expect(blocks.cachedForMs('ip:10000')).toBeGreaterThan(0);
});

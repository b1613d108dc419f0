import type { UsageDay } from '@svc/contracts/ports';
import { expect, it } from 'vitest';
import { usageDaysView } from './usage-days-view.js';

const NAMES = { modelType: () => 'text', keyName: () => 'the key' };

const line = (model: string, sku: string, unit = 'token'): UsageDay => ({
  day: '2026-11-20',
  keyId: 'key',
  model,
  sku: `${model}-${sku}`,
  unit,
  usdNano: 10n,
  diemNano: 0n,
  units: 100n,
});

it('shows the tokens of every model as what they are, and none of what is not sold by tokens', () => {
  const sums = [
    line('chat', 'llm-input-mtoken'),
    line('chat', 'llm-flex-input-mtoken'),
    line('chat', 'llm-output-mtoken'),
    line('chat', 'llm-cache-input-mtoken'),
    line('vectors', 'embedding-input-mtoken'),
    line('ranks', 'rerank-input-mtoken'),
    line('pictures', 'image-unit', 'image'),
  ];
  const tokens = usageDaysView(sums, NAMES).map((row) => [
    row.modelName,
    row.inputTokens,
    row.outputTokens,
    row.cacheReadTokens,
    row.cacheWriteTokens,
  ]);
  expect(tokens).toEqual([
    ['chat', 200, 100, 100, null],
    ['vectors', 100, null, null, null],
    ['ranks', 100, null, null, null],
    ['pictures', null, null, null, null],
  ]);
});

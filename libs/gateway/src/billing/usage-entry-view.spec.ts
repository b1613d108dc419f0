import type { UsageEntry } from '@svc/contracts/ports';
import { describe, expect, it } from 'vitest';
import { usageCsv, usageEntryView } from './usage-entry-view.js';

const entry: UsageEntry = {
  at: new Date('2026-11-21T10:15:00.007Z'),
  requestId: 'chatcmpl-1',
  keyId: 'key',
  model: 'own/model,1',
  sku: 'own/model,1-llm-input-mtoken',
  unit: 'token',
  units: 1n,
  priceNanoPerMillion: 150_000_001n,
  amountNano: 1n,
  currency: 'USD',
  promptTokens: 1,
  completionTokens: 2,
  durationMs: 3,
};

describe('usage entries', () => {
  it('are debits rounded to the double nearest to the nano-dollars, and 0 if nothing was paid', () => {
    expect(usageEntryView(entry)).toMatchObject({ amount: -1e-9, units: 1e-6, pricePerUnitUsd: 0.150000001 });
    expect(JSON.stringify(usageEntryView({ ...entry, amountNano: 0n }))).toContain('"amount":0,');
    expect(usageEntryView({ ...entry, amountNano: 123_456_789_012_345n }).amount).toBe(-123456.789012345);
  });

  it('have plain decimals in CSV, whatever their size, and quotes around text with commas', () => {
    const [header, row] = usageCsv([entry]).split('\n');
    expect(header).toBe(
      'timestamp,sku,pricePerUnitUsd,units,amount,currency,notes,inferenceDetails.requestId,inferenceDetails.inferenceExecutionTime,inferenceDetails.promptTokens,inferenceDetails.completionTokens',
    );
    expect(row).toBe(
      '2026-11-21T10:15:00.007Z,"own/model,1-llm-input-mtoken",0.150000001,0.000001,-0.000000001,USD,API Inference,chatcmpl-1,3,1,2',
    );
  });

  it('show purchases by the piece in pieces', () => {
    const search = {
      ...entry,
      sku: 'web-search-request',
      unit: 'request',
      priceNanoPerMillion: 10_000_000_000_000n,
      amountNano: 10_000_000n,
    };
    expect(usageEntryView(search)).toMatchObject({ units: 1, pricePerUnitUsd: 0.01, amount: -0.01 });
    expect(usageCsv([search])).toContain(',web-search-request,0.01,1.00,-0.01,');
  });

  it('leave only the header in CSV when there are none', () => {
    expect(usageCsv([])).toMatch(/^timestamp,[^\n]+\n$/);
  });
});
